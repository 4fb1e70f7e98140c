/**
 * `agent-trainer/verl`: verl on a Ray cluster as a training backend.
 *
 * @module verl
 */
import { VerlBackend } from "./backend.ts";
import type { VerlBackendOptions } from "./verl-options.ts";

export { VerlError } from "./verl-error.ts";
export type { VerlFailure } from "./verl-error.ts";
export type { VerlAttachment, VerlBackendOptions, VerlRunOptions } from "./verl-options.ts";

/**
 * Creates the `verl` backend, which trains on a Ray cluster. verl has to know the run when it starts,
 * so `run` repeats options of the configuration; `AgentTrainer` fills them in with `backend: "verl"`.
 * The caller disposes of it.
 *
 * @example
 * await using backend = createVerlBackend({
 *   run: { optim: defaultOptim, batchSize: 16, groupSize: 8, temperature: 1, topP: 1, topK: 0, maxTokens: 512 },
 *   gpusPerNode: 8,
 * });
 */
export function createVerlBackend(options: VerlBackendOptions): VerlBackend {
  return new VerlBackend(options);
}

export type { VerlBackend };
