/**
 * `agent-trainer/tinker`: a hosted or self-hosted Tinker server as a training backend, and its
 * client.
 *
 * @module tinker
 */
import { TinkerBackend } from "./backend.ts";
import type { TinkerBackendOptions } from "./options.ts";

export { createTinkerClient } from "../../tinker-api/client.ts";
export type { CreateModelOptions, TinkerClient } from "../../tinker-api/client.ts";
export type { TinkerClientOptions } from "../../tinker-api/client-options.ts";
export type {
  Datum,
  ForwardBackwardOutput,
  TinkerSample,
  TinkerSampleOutput,
  TopTokens,
} from "../../tinker-api/messages.ts";
export type { TinkerCallOptions } from "../../tinker-api/wire/futures.ts";
export type {
  RestClient,
  CheckpointInfo,
  TinkerPageOptions,
  ServerModel,
  TrainingRunInfo,
  WeightsInfo,
} from "../../tinker-api/rest-client.ts";
export type { SamplingClient, TinkerSampleOptions } from "../../tinker-api/sampling-client.ts";
export { createFloatTensor, createIdTensor } from "../../tinker-api/codec/tensor.ts";
export type { FloatTensor, IdTensor, TinkerTensor } from "../../tinker-api/codec/tensor.ts";
export {
  TinkerError,
  TinkerLiveSnapshotError,
  TinkerModelLostError,
  TinkerRequestFailedError,
  TinkerResultGoneError,
  TinkerStatusError,
  TinkerUnreachableError,
  TinkerWireError,
} from "../../tinker-api/tinker-error.ts";
export type { AdamParams } from "../../tinker-api/wire/model-client.ts";
export type { TinkerRequestName } from "../../tinker-api/wire/fault-policy.ts";
export type { ModelInfo, SaveOptions, TrainingClient } from "../../tinker-api/training-client.ts";
export type { TinkerBackendOptions } from "./options.ts";

/**
 * Creates the `tinker` backend, which trains on a hosted or self-hosted Tinker server. The caller
 * disposes of it.
 *
 * @example
 * await using backend = createTinkerBackend({ baseUrl: "http://127.0.0.1:8100" });
 * const trainer = new AgentTrainer({ backend, agentFlow, evaluator, config, trainDataset });
 */
export function createTinkerBackend(options: TinkerBackendOptions = {}): TinkerBackend {
  return new TinkerBackend(options);
}

export type { TinkerBackend };
