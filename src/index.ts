/**
 * The public API of `agent-trainer`: named exports, no logic.
 *
 * @module agent-trainer
 */

// Training
export { AgentTrainer } from "./launch/agent-trainer.ts";
export type { AgentTrainerOptions, RunOptions } from "./launch/trainer-options.ts";
export type { BackendName } from "./core/capabilities.ts";
export type { TrainingBackend } from "./core/backend.ts";
export type { TrainResult } from "./trainer/run.ts";
export type { TrainerEvent } from "./core/events.ts";
export type { Tracker } from "./core/tracker.ts";

// Configuration
export { buildTrainConfig } from "./config/build-train-config.ts";
export type { BuildTrainConfigOptions } from "./config/build-train-config.ts";
export { loadConfig } from "./config/load.ts";
export type { ConfigInput, LoadConfigOptions, LoadedConfig } from "./config/load.ts";
export type { TrainConfig } from "./config/train-config.ts";
export { defineConfig } from "./config/train-options.ts";
export type { AlgorithmOptions, TrainOptions } from "./config/train-options.ts";

// Tasks
export type { Dataset, MetadataOf, Task, TaskRow } from "./core/task.ts";
export type { DatasetInput } from "./datasets/tasks/task.ts";
export type { SetUpInfo, TaskHooks, TaskSetup } from "./core/hooks.ts";
export type { SideCallRule } from "./core/side-call.ts";

// Agents and evaluators
export type {
  AgentEnvSpec,
  AgentFlowSpec,
  AgentRunFuncSpec,
  AgentSpec,
  WorkflowSpec,
} from "./rollouts/service/agent-spec.ts";
export type {
  AgentConfig,
  AgentFlow,
  AgentRunFunction,
  Evaluator,
  EvaluatorResult,
  GroupEvaluator,
  TrajectoryHandle,
  TrajectoryOptions,
} from "./core/agent.ts";
export { defineEpisode, defineTrajectory } from "./core/report.ts";
export type { EpisodeReport, StepReport, TrajectoryReport } from "./core/report.ts";
export { withTrajectory } from "./rollouts/attempt/trajectory-scope.ts";
export { TerminationEvent } from "./core/termination.ts";

// Workflows
export { Workflow } from "./rollouts/workflow/workflow.ts";
export type { WorkflowClass, WorkflowOptions } from "./rollouts/workflow/workflow.ts";
export type {
  ModelCallOptions,
  ModelOutput,
  WireMessage,
  WireToolCall,
} from "./rollouts/workflow/model-call.ts";
export type { TrajectoryRecorder } from "./rollouts/workflow/trajectory-recorder.ts";

// Results of rollouts
export type { FailedCall } from "./core/failed-call.ts";
export type {
  Episode,
  EvalOutput,
  Signal,
  Step,
  TerminationReason,
  Trajectory,
} from "./core/trajectory.ts";
export type { Trace } from "./core/trace.ts";

// Custom algorithms
export type { AdvantageEstimator, EstimatorOptions } from "./algorithms/estimators.ts";
export type { LossFunction, LossFunctionToken } from "./algorithms/losses/loss-function.ts";
export type { LossRow, RowLoss, RowLossValue } from "./core/loss/row-loss.ts";

// Errors
export {
  AgentTrainerError,
  CheckpointError,
  ConfigError,
  ContextOverflowError,
  DeadlineError,
  ModelError,
  NumericsError,
  UnsupportedOptionError,
} from "./core/errors.ts";
export type { ErrorCode } from "./core/errors.ts";
