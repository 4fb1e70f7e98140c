/**
 * `agent-trainer/runs`: runs on disk: which there are, what came of them, and what of them may go.
 *
 * @module runs
 */

export { listRuns, readRun } from "./trainer/run-folder/run-summary.ts";
export type { RunSummary } from "./trainer/run-folder/run-summary.ts";
export { readRunHealth } from "./trainer/run-folder/run-health.ts";
export { readCostOfReward } from "./trainer/run-folder/cost-of-reward.ts";
export type { CostOfReward } from "./trainer/run-folder/cost-of-reward.ts";
export type { DiseaseName, HealthFinding, RunFinding } from "./core/health.ts";
export { cleanRuns } from "./trainer/run-folder/clean-runs.ts";
export type { CleanedRun, CleanOptions } from "./trainer/run-folder/clean-runs.ts";
