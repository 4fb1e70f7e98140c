/** Numbers of a call's sampled tokens from the step that trained on them, as a run records them. */

/**
 * One line of `tokens/{step}.jsonl` in a run folder. Lists have an entry for each sampled token of the call.
 */
export interface TokenRecord {
  /** Id of the episode. */
  readonly episode: string;
  /** Id of the call's trace. */
  readonly trace: string;
  /** Step whose update had the call in its rows. */
  readonly step: number;
  /** Numbers refer to softmax(logits / temperature). */
  readonly temperature: number;
  /** 1 where the token was trained on; 0 where rollout correction rejected it. */
  readonly mask: readonly number[];
  /** Natural log, under the weights before the step's first update. 0 where not trained. */
  readonly logprobs: readonly number[];
  /** Natural log, under the reference of a KL penalty; null where the run measures against none. */
  readonly reference: readonly number[] | null;
  /** In nats, under the weights before the step's first update; null where the backend returns none. */
  readonly entropy: readonly number[] | null;
  readonly advantages: readonly number[];
  /** Factors of rollout correction or custom weights on the token's loss; null where all are 1. */
  readonly weights: readonly number[] | null;
}
