/** What the parts of a run share while it is running. */
import type { CustomEstimators } from "../algorithms/catalog.ts";
import type { TrainConfig } from "../config/train-config.ts";
import type { GroupEvaluator } from "../core/agent.ts";
import type { TrainingBackend } from "../core/backend.ts";
import type { Renderer } from "../core/policy.ts";
import type { Task } from "../core/task.ts";
import type { Teacher } from "../core/teacher.ts";
import type { RunRollouts } from "../rollouts/service/gateway-service.ts";
import type { WeightGate } from "../rollouts/service/weight-gate.ts";
import type { BatchPlan } from "../runs/batches.ts";
import type { RunLog } from "../runs/run-log.ts";
import type { Budget } from "./budget/budget.ts";
import type { CustomLosses } from "./custom-algorithms.ts";
import type { Emit, WarnOnce } from "./events.ts";
import type { Hint } from "./update/self-teacher.ts";

/** Of every run, whatever it learns from. */
export interface RunContext {
  readonly config: TrainConfig;
  readonly backend: TrainingBackend;
  readonly totalSteps: number;
  readonly journal: RunLog;
  readonly emit: Emit;
  readonly warnOnce: WarnOnce;
  readonly signal: AbortSignal;
  /** What the run has spent, and may spend. */
  readonly budget: Budget;
}

/** Of a run that learns from the rollouts of an agent. */
export interface RolloutContext extends RunContext {
  /** Every update and weight sync goes through it. */
  readonly gate: WeightGate;
  readonly rollouts: RunRollouts;
  readonly batches: BatchPlan<Task>;
  readonly valTasks: readonly Task[];
  /** Custom estimators, by their names in the options. */
  readonly estimators: CustomEstimators;
  readonly losses: CustomLosses;
  /** Scores the rollouts of a task together, in place of the rewards of the evaluator. */
  readonly groupEvaluator?: GroupEvaluator;
  /** Of the policy, where its backend has one. */
  readonly renderer?: Renderer;
  /** Longest sequence of the policy, in tokens, where it is known. */
  readonly contextLength?: number;
  /** What the policy as its own teacher reads, where `distillation.hint` names something. */
  readonly hint?: Hint;
  /** Grades sampled tokens, where `distillation.teacher` names one. */
  readonly teacher?: Teacher;
}
