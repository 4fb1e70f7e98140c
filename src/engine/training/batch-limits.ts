/** What a batch may hold, by the memory it takes; see `memory.ts`. */
export interface BatchLimits {
  /**
   * Sequences of a width, at least one; whether that many only fit when layers are checkpointed, and
   * whether they do fit.
   */
  rows(width: number): {
    readonly rows: number;
    readonly checkpointed: boolean;
    readonly fits: boolean;
  };
  /** Scores of attention that take as long as the rest of one token. */
  readonly scoresPerToken: number;
  /** Trained tokens whose logits exist at the same time. */
  readonly headChunkRows: number;
}
