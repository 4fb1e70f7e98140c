/**
 * `agent-trainer/fireworks`: training on Fireworks as a backend, serverless or on dedicated trainers, and
 * a client of the serverless Training API.
 *
 * @module fireworks
 */
import { FireworksBackend } from "./backend.ts";
import type { FireworksBackendOptions } from "./options.ts";

export { createFireworksClient } from "./api/client.ts";
export type { FireworksCheckpoint, FireworksClient, FireworksModelOptions } from "./api/client.ts";
export type { FireworksCallOptions, FireworksClientOptions } from "./api/client-options.ts";
export type { FireworksSample } from "./api/completion-stream.ts";
export { FireworksError } from "./api/fireworks-error.ts";
export type { FireworksModelCapabilities } from "./api/model-capabilities.ts";
export type { FireworksSampleOptions, FireworksSamplingClient } from "./api/sampling-client.ts";
export type { AdamParams as FireworksAdamParams } from "../../tinker-api/wire/model-client.ts";
export type {
  FireworksStepOptions,
  FireworksTrainingClient,
  GradientNormalization,
} from "./api/training-client.ts";
export type { DedicatedOptions as FireworksDedicatedOptions } from "./dedicated/dedicated-options.ts";
export type { FireworksBackendOptions } from "./options.ts";

/**
 * Creates the `fireworks` backend, which trains a LoRA adapter on Fireworks' serverless Training API, or,
 * with `dedicated`, an adapter or every weight on a dedicated trainer. The caller disposes of it, which
 * deletes what was created.
 *
 * @example
 * await using backend = createFireworksBackend({ tokenizer: "Qwen/Qwen3-8B", contextLength: 32_768 });
 * const trainer = new AgentTrainer({ backend, agentFlow, evaluator, config, trainDataset });
 */
export function createFireworksBackend(options: FireworksBackendOptions = {}): FireworksBackend {
  return new FireworksBackend(options);
}

export type { FireworksBackend };
