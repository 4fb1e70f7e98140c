/**
 * `agent-trainer/evaluate`: agents and evaluators as in training, against any model and without training;
 * comparisons of evaluations, and scoring of recorded episodes.
 *
 * @module evaluate
 */

export { evaluate } from "./evaluate.ts";
export type {
  EvaluationOptions,
  EvaluationProgress,
  EvaluationResult,
  EvaluationRunOptions,
  ModelEndpoint,
} from "./evaluation-options.ts";
export type { EvaluationItem } from "../../runs/evaluations/evaluation-item.ts";
export type {
  Estimate,
  EvaluationScores,
  EvaluationSummary,
} from "../../runs/evaluations/summary.ts";
export { compareEvaluations } from "../../runs/evaluations/compare.ts";
export type {
  ComparableEvaluation,
  CompareOptions,
  EvaluationComparison,
  PairedDifference,
  TaskMeans,
} from "../../runs/evaluations/compare.ts";
export { rescore } from "./rescore.ts";
export type { RescoreOptions, RescoreResult, Verdict } from "./rescore.ts";
export { doctorReward } from "./reward-doctor/doctor-reward.ts";
export type { RewardDoctorOptions, RewardReport } from "./reward-doctor/doctor-reward.ts";
export type { RewardCase, RewardFinding } from "./reward-doctor/report.ts";
export type { RewardFault } from "./reward-doctor/faults.ts";
