/** The public API of `agent-trainer`: named exports, no logic. */

// Training
export { AgentTrainer } from "./trainer/agent-trainer.ts";
export type { AgentTrainerOptions } from "./trainer/agent-trainer.ts";
export type { TrainResult } from "./trainer/run.ts";
export type { ResumeMode } from "./trainer/run-folder/run-directory.ts";
export type { DatasetInput } from "./trainer/rollouts/task.ts";
export { toTask } from "./trainer/rollouts/task.ts";

// Custom algorithms
export type { AdvantageEstimator, EstimatorOptions } from "./algorithms/estimator.ts";
export type {
  LossFunction,
  LossFunctionToken,
  TokenLossFunction,
} from "./algorithms/losses/loss-function.ts";
export type { LossRow, RowLoss, RowLossValue } from "./algorithms/losses/row-loss.ts";

// Configuration
export { buildTrainConfig, loadConfig } from "./config/load.ts";
export type {
  BuildTrainConfigOptions,
  ConfigInput,
  ConfigSource,
  LoadConfigOptions,
  LoadedConfig,
} from "./config/load.ts";
export type { Overrides } from "./config/overrides.ts";
export { configFields } from "./config/fields.ts";
export type { ConfigField } from "./config/fields.ts";
export type { RolloutSampling, TrainConfig } from "./config/train-config.ts";
export type { AlgorithmOptions, TrainOptions } from "./config/train-options.ts";

// What users implement
export { reportEpisode, reportTrajectory } from "./core/report.ts";
export type { EpisodeReport, StepReport, TrajectoryReport } from "./core/report.ts";
export { TerminationEvent } from "./core/termination.ts";
export type { SetUpInfo, TaskHooks, TaskSetup } from "./core/hooks.ts";
export { withTrajectory } from "./rollout/trajectory-scope.ts";
export type {
  AgentConfig,
  AgentFlow,
  AgentFlowFunction,
  AgentFlowObject,
  AgentRunFunction,
  AgentRunResult,
  Evaluator,
  EvaluatorFunction,
  EvaluatorObject,
  EvaluatorResult,
  TrajectoryHandle,
  TrajectoryOptions,
} from "./core/agent.ts";
export { Workflow } from "./workflow/workflow.ts";
export type { WorkflowClass, WorkflowOptions } from "./workflow/workflow.ts";
export { MultiTurnWorkflow, SingleTurnWorkflow } from "./workflow/multi-turn.ts";
export type { AgentEnvironmentArgs, MultiTurnArgs } from "./workflow/multi-turn.ts";
export { CumulativeWorkflow } from "./workflow/cumulative.ts";
export type { CumulativeArgs } from "./workflow/cumulative.ts";
export type {
  Agent,
  Environment,
  EnvironmentStart,
  EnvironmentStep,
  Maker,
} from "./workflow/agent-environment.ts";
export type { CallOptions, ModelOutput, WireMessage, WireToolCall } from "./workflow/model-call.ts";
export type { StepMark, TrajectoryRecorder } from "./workflow/trajectory-recorder.ts";
export type { RewardShaping } from "./workflow/reward-shaping.ts";
export type { AgentSpec } from "./trainer/rollouts/agent-spec.ts";
export type { Dataset, Task, TaskRow } from "./core/task.ts";

// Results of rollouts
export type {
  Episode,
  EvalOutput,
  GroupMember,
  Signal,
  Step,
  TerminationReason,
  Trajectory,
  TrajectoryGroup,
} from "./core/trajectory.ts";
export type {
  ChatMessage,
  ContentPart,
  ImagePart,
  JsonObject,
  JsonValue,
  Role,
  TextPart,
  ToolCall,
  ToolDefinition,
} from "./core/message.ts";
export type { Protocol, Trace } from "./core/trace.ts";
export type { ConfigChange, TrainerEvent, TrainerEventType } from "./core/events.ts";

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
export type { ErrorCode, ErrorDetails } from "./core/errors.ts";

// For authors of backends
export type {
  BackendCapabilities,
  HttpTarget,
  InferenceTarget,
  LoraSpec,
  ModelSpec,
  RunContext,
  SamplerTarget,
  TrainingBackend,
  UpdateMetrics,
} from "./core/backend.ts";
export { refuseBeyond } from "./core/update-limits.ts";
export type { MeasuredMetric, UpdateLimits } from "./core/update-limits.ts";
export {
  defaultLoss,
  defaultOptim,
  klEstimators,
  lossAggregations,
  lossNames,
} from "./core/loss.ts";
export type {
  KlEstimator,
  KlSpec,
  LossAggregation,
  LossName,
  LossSpec,
  OptimSpec,
} from "./core/loss.ts";
export { countTargets, rowFactors } from "./core/aggregation.ts";
export { defaultSampling } from "./core/policy.ts";
export type {
  ParsedCompletion,
  RenderedPrompt,
  Renderer,
  RenderOptions,
  Sample,
  SampleChunk,
  SampleRequest,
  Sampler,
  SamplingParams,
  StopReason,
  StopSpec,
} from "./core/policy.ts";
export type { RowProvenance, RowSegment, TrainingRow } from "./core/training-row.ts";
