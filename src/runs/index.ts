/**
 * `agent-trainer/runs`: runs on disk: which there are, what came of them, and what of them may go.
 *
 * @module runs
 */

export { listRuns, readRun } from "./run-summary.ts";
export type { RunSummary } from "./run-summary.ts";
export { readRunHealth } from "./run-health.ts";
export { readCostOfReward } from "./cost-of-reward.ts";
export type { CostOfReward } from "./cost-of-reward.ts";
export type { DiseaseName, HealthFinding, RunFinding } from "../core/health.ts";
export { cleanRuns } from "./clean-runs.ts";
export type { CleanedRun, CleanOptions } from "./clean-runs.ts";
