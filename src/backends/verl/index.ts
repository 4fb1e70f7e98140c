/** `agent-trainer/verl`: verl on a Ray cluster as a training backend. */
import { VerlBackend } from "./backend.ts";
import type { VerlBackendOptions } from "./verl-options.ts";

export { VerlError } from "./verl-error.ts";
export type { VerlFailure } from "./verl-error.ts";
export { sharedKeys } from "./shared-keys.ts";
export type { SharedKey } from "./shared-keys.ts";
export type { VerlAttachment, VerlBackendOptions, VerlRunOptions } from "./verl-options.ts";

/** Creates the `verl` backend. The caller owns it: `await using backend = createVerlBackend({ run })`. */
export function createVerlBackend(options: VerlBackendOptions): VerlBackend {
  return new VerlBackend(options);
}

export type { VerlBackend };
