/** What a batch may hold, by the memory it takes; see `memory.ts`. */
export interface BatchSize {
  /** Tokens that are computed. */
  readonly tokens: number;
  /** Pairs of tokens that attention computes, including padding. */
  readonly scores: number;
  /** Tokens that are attended to: a shared one counts for every row. */
  readonly keys: number;
}

/** With all layers' activations, only when layers are recomputed in the backward pass, or not at all. */
export type Fit = "kept" | "recomputed" | "exceeded";

export interface BatchLimits {
  fit(size: BatchSize): Fit;
  /** Trained tokens whose logits are in memory at the same time. */
  readonly headChunkRows: number;
}
