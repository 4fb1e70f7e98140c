/** What a batch may hold, by the memory it takes; see `memory.ts`. */
export interface BatchSize {
  /** That are computed. */
  readonly tokens: number;
  /** Pairs of tokens that attention computes, with those that padding adds. */
  readonly scores: number;
  /** Tokens that are looked at: a shared one counts for every row. */
  readonly keys: number;
}

/** With all layers' activations, only when layers are computed again in the backward pass, or not at all. */
export type Fit = "kept" | "recomputed" | "exceeded";

export interface BatchLimits {
  fit(size: BatchSize): Fit;
  /** Trained tokens whose logits exist at the same time. */
  readonly headChunkRows: number;
}
