/**
 * `agent-trainer/tinker`: a hosted or self-hosted Tinker server as a training backend, and its
 * client.
 */
import { TinkerBackend } from "./backend.ts";
import type { TinkerBackendOptions } from "./options.ts";

export { TinkerClient } from "../../tinker-api/client.ts";
export type { CreateModelOptions } from "../../tinker-api/client.ts";
export { hostedBaseUrl } from "../../tinker-api/client-options.ts";
export type { TinkerClientOptions } from "../../tinker-api/client-options.ts";
export type {
  Datum,
  ForwardBackwardOutput,
  SampledSequence,
  SampleOutput,
  TopTokens,
} from "../../tinker-api/messages.ts";
export type { CallOptions } from "../../tinker-api/request-context.ts";
export { RestClient } from "../../tinker-api/rest-client.ts";
export type {
  CheckpointInfo,
  PageOptions,
  ServerModel,
  TrainingRunInfo,
  WeightsInfo,
} from "../../tinker-api/rest-client.ts";
export { SamplingClient } from "../../tinker-api/sampling-client.ts";
export type { SampleOptions } from "../../tinker-api/sampling-client.ts";
export { floatTensor, idTensor } from "../../tinker-api/tensor.ts";
export type { FloatTensor, IdTensor, TinkerTensor } from "../../tinker-api/tensor.ts";
export {
  TinkerError,
  TinkerModelLostError,
  TinkerRequestFailedError,
  TinkerResultGoneError,
  TinkerStatusError,
  TinkerUnreachableError,
  TinkerWireError,
} from "../../tinker-api/tinker-error.ts";
export type { TinkerRequestName } from "../../tinker-api/tinker-error.ts";
export { TrainingClient } from "../../tinker-api/training-client.ts";
export type { AdamParams, ModelInfo, SaveOptions } from "../../tinker-api/training-client.ts";
export type { TinkerBackendOptions } from "./options.ts";

/**
 * Creates the `tinker` backend. The caller owns it: `await using backend = createTinkerBackend({
 * baseUrl })`.
 */
export function createTinkerBackend(options: TinkerBackendOptions = {}): TinkerBackend {
  return new TinkerBackend(options);
}

export type { TinkerBackend };
