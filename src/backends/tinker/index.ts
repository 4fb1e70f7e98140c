/** A Tinker server, hosted or your own, as a training backend. */
import { TinkerBackend } from "./backend.ts";
import type { TinkerBackendOptions } from "./options.ts";

export type { TinkerBackendOptions } from "./options.ts";

/** The caller owns it: `await using backend = createTinkerBackend({ baseUrl })`. */
export function createTinkerBackend(options: TinkerBackendOptions = {}): TinkerBackend {
  return new TinkerBackend(options);
}

export type { TinkerBackend };
