/**
 * `agent-trainer/backend`: the contracts between the trainer and what holds the weights, for authors
 * of backends and for training loops written by hand.
 *
 * @module backend
 */

// The contract
export type {
  BackendCapabilities,
  HttpDeadlines,
  HttpTarget,
  HttpWorker,
  InferenceTarget,
  LoraSpec,
  ModelSpec,
  RunContext,
  SamplerTarget,
  TrainingBackend,
  UpdateMetrics,
  WorkerKind,
} from "./core/backend.ts";
export { refuseBeyond } from "./core/loss/update-limits.ts";
export type { MeasuredMetric, UpdateLimits } from "./core/loss/update-limits.ts";

// Losses and the optimizer
export {
  defaultLoss,
  defaultOptim,
  klEstimators,
  lossAggregations,
  lossNames,
} from "./core/loss/loss.ts";
export type {
  KlEstimator,
  KlSpec,
  LossAggregation,
  LossName,
  LossSpec,
  OptimField,
  OptimSpec,
} from "./core/loss/loss.ts";
export type { CriticDefaults, CriticSpec } from "./core/loss/value-loss.ts";
export { countTargets, rowFactors } from "./core/loss/aggregation.ts";
export type { RowProvenance, RowSegment, TrainingRow } from "./core/loss/training-row.ts";

// Sampling and messages
export { defaultSampling } from "./core/policy.ts";
export { createCompletionReader, readWhole } from "./core/completion-reader.ts";
export type { CallSyntax, CompletionSyntax, FoundCalls } from "./core/completion-reader.ts";
export type { MarkedText, Markup } from "./core/marked-text.ts";
export type {
  CompletionReader,
  LongTextRenderer,
  ParsedCompletion,
  ReadOptions,
  RenderedPrompt,
  Renderer,
  RenderOptions,
  Sample,
  SampleChunk,
  Sampler,
  SampleRequest,
  SamplingParams,
  StopReason,
  StopSpec,
  TextDelta,
  WeightChange,
} from "./core/policy.ts";
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

// What a backend throws
export {
  AgentTrainerError,
  CheckpointError,
  ConfigError,
  ContextOverflowError,
  ModelError,
  NumericsError,
  UnsupportedOptionError,
} from "./core/errors.ts";
export type { ErrorCode, ErrorDetails } from "./core/errors.ts";
