/**
 * `agent-trainer/fireworks`: Fireworks' serverless Training API as a training backend, and its client.
 *
 * @module fireworks
 */
import { FireworksBackend } from "./backend.ts";
import type { FireworksBackendOptions } from "./options.ts";

export { createFireworksClient } from "./api/client.ts";
export type { FireworksCheckpoint, FireworksClient, FireworksModelOptions } from "./api/client.ts";
export type { FireworksClientOptions } from "./api/client-options.ts";
export type { FireworksSample } from "./api/completion-stream.ts";
export { FireworksError } from "./api/fireworks-error.ts";
export type { FireworksCallOptions } from "./api/futures.ts";
export type { FireworksModelCapabilities } from "./api/model-capabilities.ts";
export type { FireworksSampleOptions, FireworksSamplingClient } from "./api/sampling-client.ts";
export type {
  FireworksAdamParams,
  FireworksStepOptions,
  FireworksTrainingClient,
  GradientNormalization,
} from "./api/training-client.ts";
export type { FireworksBackendOptions } from "./options.ts";

/**
 * Creates the `fireworks` backend, which trains a LoRA adapter on Fireworks' serverless Training API. The
 * caller disposes of it, which deletes the training session.
 *
 * @example
 * await using backend = createFireworksBackend({ tokenizer: "Qwen/Qwen3-8B", contextLength: 32_768 });
 * const trainer = new AgentTrainer({ backend, agentFlow, evaluator, config, trainDataset });
 */
export function createFireworksBackend(options: FireworksBackendOptions = {}): FireworksBackend {
  return new FireworksBackend(options);
}

export type { FireworksBackend };
