/** What the parts of the training loop share. */
import type { CustomEstimators } from "../algorithms/catalog.ts";
import type { GroupEvaluator } from "../core/agent.ts";
import type { TrainingBackend } from "../core/backend.ts";
import type { Task } from "../core/task.ts";
import type { Teacher } from "../core/teacher.ts";
import type { Budget } from "./budget/budget.ts";
import type { BatchPlan } from "../runs/batches.ts";
import type { WeightGate } from "../rollouts/service/weight-gate.ts";
import type { TrainConfig } from "../config/train-config.ts";
import type { CustomLosses } from "./custom-algorithms.ts";
import type { Emit } from "./events.ts";
import type { HealthWatch } from "./health-watch.ts";
import type { RunRollouts } from "../rollouts/service/run-rollouts.ts";
import type { RunLog } from "../runs/run-log.ts";

export interface LoopContext {
  readonly config: TrainConfig;
  readonly backend: TrainingBackend;
  /** Every update and weight sync goes through it. */
  readonly gate: WeightGate;
  readonly rollouts: RunRollouts;
  readonly batches: BatchPlan<Task>;
  readonly valTasks: readonly Task[];
  readonly totalSteps: number;
  readonly journal: RunLog;
  readonly health: HealthWatch;
  readonly emit: Emit;
  readonly signal: AbortSignal;
  /** What the run has spent, and may spend. */
  readonly budget: Budget;
  /** Custom estimators, by their names in the options. */
  readonly estimators: CustomEstimators;
  readonly losses: CustomLosses;
  /** Scores the rollouts of a task together, in place of the rewards of the evaluator. */
  readonly groupEvaluator?: GroupEvaluator;
  /** Grades sampled tokens, where `distillation.teacher` names one. */
  readonly teacher?: Teacher;
}
