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
export { trainSeeds } from "./launch/seeds/train-seeds.ts";
export type {
  SeedRunOptions,
  TrainSeedsOptions,
  TrainSeedsResult,
} from "./launch/seeds/train-seeds.ts";
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

export { MultiTurnWorkflow, SingleTurnWorkflow } from "./rollouts/workflow/multi-turn.ts";
export type { MultiTurnArgs } from "./rollouts/workflow/multi-turn.ts";
export { CumulativeWorkflow } from "./rollouts/workflow/cumulative.ts";
export type { CumulativeArgs } from "./rollouts/workflow/cumulative.ts";
export type {
  Agent,
  Environment,
  EnvironmentStart,
  EnvironmentStep,
} from "./rollouts/workflow/agent-environment.ts";

// Agents in separate processes
export { commandAgent } from "./rollouts/agents/command/command-agent.ts";
export type {
  CommandAgentOptions,
  CommandRollout,
  PerRollout,
} from "./rollouts/agents/command/command-options.ts";
export { httpAgent, type HttpAgentOptions } from "./rollouts/agents/http/http-agent.ts";
export type { Files, RolloutFolders } from "./rollouts/agents/process/rollout-folder.ts";
export { claudeCode } from "./rollouts/agents/tools/claude-code.ts";
export { codex } from "./rollouts/agents/tools/codex.ts";
export { opencode } from "./rollouts/agents/tools/opencode.ts";
export { toolSideCalls } from "./rollouts/agents/tools/side-calls.ts";
export { pi } from "./rollouts/agents/tools/pi.ts";
export type { ToolOptions } from "./rollouts/agents/tools/tool-options.ts";

// Results of rollouts
export type { FailedCall } from "./core/trajectory.ts";
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
export type {
  AdvantageEstimator,
  EstimatorOptions,
  RolloutOutcome,
} from "./algorithms/estimators.ts";
export type { LossFunction, LossFunctionToken } from "./algorithms/losses/loss-function.ts";
export type { LossRow, RowLoss, RowLossValue } from "./core/loss/row-loss.ts";

// Learning from examples
export {
  fineTune,
  type FineTuneOptions,
  type FineTuneResult,
} from "./launch/finetune/fine-tune.ts";
export type { ExampleSource } from "./launch/finetune/examples/load-examples.ts";
export {
  previewFineTune,
  type FineTunePreview,
  type PreviewPart,
  type PreviewRow,
} from "./launch/finetune/preview.ts";

// Evaluation
export { evaluate } from "./launch/evaluate/evaluate.ts";
export type {
  EvaluationOptions,
  EvaluationProgress,
  EvaluationResult,
  EvaluationRunOptions,
  ModelEndpoint,
} from "./launch/evaluate/evaluation-options.ts";
export type { EvaluationItem } from "./runs/evaluations/evaluation-item.ts";
export type { Estimate, EvaluationScores, EvaluationSummary } from "./runs/evaluations/summary.ts";
export { compareEvaluations } from "./runs/evaluations/compare.ts";
export type {
  ComparableEvaluation,
  CompareOptions,
  EvaluationComparison,
  PairedDifference,
  TaskMeans,
} from "./runs/evaluations/compare.ts";
export { loadImproveConfig } from "./config/improve/improve-config.ts";
export type { ImproveConfig } from "./config/improve/improve-config.ts";
export { improve } from "./launch/improve/improve.ts";
export type { ImproveResult, ImproveRunOptions } from "./launch/improve/improve.ts";
export { gate } from "./launch/evaluate/gate.ts";
export type { GateOptions } from "./launch/evaluate/gate.ts";
export { gateEvaluations } from "./runs/evaluations/gate.ts";
export type {
  GateInput,
  GateMiss,
  GatePair,
  GateRatio,
  GateReport,
  GateSlice,
  Regressions,
} from "./runs/evaluations/gate-report.ts";
export type { GateResult } from "./runs/evaluations/gate-folders.ts";
export type { GateRule } from "./runs/evaluations/gate-rule.ts";
export { addRegressions, readRegressions } from "./runs/evaluations/regression-set.ts";
export { rescore } from "./launch/evaluate/rescore.ts";
export type { RescoreOptions, RescoreResult, Verdict } from "./launch/evaluate/rescore.ts";
export { doctorReward } from "./launch/evaluate/reward-doctor/doctor-reward.ts";
export type {
  RewardDoctorOptions,
  RewardReport,
} from "./launch/evaluate/reward-doctor/doctor-reward.ts";
export type {
  RewardCase,
  RewardFault,
  RewardFinding,
} from "./launch/evaluate/reward-doctor/report.ts";

// Trained models as a server
export { createModelServer } from "./launch/serve/model-server.ts";
export type { ModelServer } from "./launch/serve/model-server.ts";
export type {
  ModelServerOptions,
  ModelSwap,
  ServedModelSpec,
} from "./launch/serve/serve-options.ts";

// Runs on disk
export { listRuns, readRun } from "./runs/run-summary.ts";
export type { RunSummary } from "./runs/run-summary.ts";
export { readRunHealth } from "./runs/run-health.ts";
export { readCostOfReward } from "./runs/cost-of-reward.ts";
export type { CostOfReward } from "./runs/cost-of-reward.ts";
export type { DiseaseName, HealthFinding, RunFinding } from "./core/health.ts";
export { cleanRuns } from "./runs/clean-runs.ts";
export type { CleanedRun, CleanOptions } from "./runs/clean-runs.ts";

// Production
export { ProductionStore, readFeedback, readSpans } from "./production/store/production-store.ts";
export type { ProductionStoreOptions, Rejected } from "./production/store/production-store.ts";
export type { Feedback, FeedbackInput } from "./production/store/feedback.ts";
export type { ModelCall, Span, ToolRun } from "./production/store/span.ts";
export { curate } from "./production/curate/curate.ts";
export type { CurateOptions } from "./production/curate/curate.ts";
export type { CurateReport } from "./production/curate/report.ts";
export type { ScrubHook } from "./production/curate/scrub.ts";

// Projects
export { initProject } from "./launch/init/init-project.ts";
export type { InitFile, InitOptions, InitResult } from "./launch/init/init-project.ts";
export type { FrameworkName } from "./launch/init/frameworks.ts";

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
