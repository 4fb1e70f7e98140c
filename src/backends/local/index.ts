/** `agent-trainer/local`: the embedded engine as a training backend. */
import { LocalBackend } from "./backend.ts";
import type { LocalBackendOptions } from "./backend.ts";

export type { LocalBackendOptions } from "./backend.ts";
export type { PullProgress } from "../../hub/pull-model.ts";
export { builtinModels } from "./find-model.ts";

/**
 * Creates the `local` backend. The caller owns it: `await using backend = createLocalBackend()`.
 * Needs the peer dependency `onnxruntime-node`.
 */
export function createLocalBackend(options: LocalBackendOptions = {}): LocalBackend {
  return new LocalBackend(options);
}

export type { LocalBackend };
