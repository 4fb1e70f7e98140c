/** `agent-trainer/tinker`: a client for the Tinker API, hosted or self-hosted. */
export { TinkerClient } from "./client.ts";
export type { CreateModelOptions } from "./client.ts";
export { hostedBaseUrl } from "./client-options.ts";
export type { TinkerClientOptions } from "./client-options.ts";
export type {
  Datum,
  ForwardBackwardOutput,
  SampledSequence,
  SampleOutput,
  TopTokens,
} from "./messages.ts";
export type { CallOptions } from "./request-context.ts";
export { RestClient } from "./rest-client.ts";
export type {
  CheckpointInfo,
  PageOptions,
  ServerModel,
  TrainingRunInfo,
  WeightsInfo,
} from "./rest-client.ts";
export { SamplingClient } from "./sampling-client.ts";
export type { SampleOptions } from "./sampling-client.ts";
export { floatTensor, idTensor } from "./tensor.ts";
export type { FloatTensor, IdTensor, TinkerTensor } from "./tensor.ts";
export {
  TinkerError,
  TinkerModelLostError,
  TinkerRequestFailedError,
  TinkerResultGoneError,
  TinkerStatusError,
  TinkerUnreachableError,
  TinkerWireError,
} from "./tinker-error.ts";
export type { TinkerRequestName } from "./tinker-error.ts";
export { TrainingClient } from "./training-client.ts";
export type { AdamParams, ModelInfo, SaveOptions } from "./training-client.ts";
