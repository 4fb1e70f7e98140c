/** What a micro-batch may hold, by the memory it takes; see `memory.ts`. */

/** With all layers' activations, only when layers are recomputed in the backward pass, or not at all. */
type Fit = "kept" | "recomputed" | "exceeded";

export interface BatchLimits {
  /** @param tokens that are computed */
  fit(tokens: number): Fit;
  /** Trained tokens whose logits are in memory at the same time. */
  readonly headChunkRows: number;
}

/** From here on more tokens are not computed faster, and others wait longer for a layer to end. */
const maxTokens = 4096;

/** Whether a batch of `now` tokens may become one of `grown`, which must not exceed the limits more than it does. */
export function mayGrow(limits: BatchLimits, now: number, grown: number): boolean {
  const fit = limits.fit(grown);
  return grown <= maxTokens && fit !== "exceeded" && fit === limits.fit(now);
}
