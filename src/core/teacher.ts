/** What grades the tokens that a policy samples: on-policy distillation (arXiv:2306.13649). */
import type { TrainingRow } from "./loss/training-row.ts";
import type { Renderer } from "./policy.ts";

/** A model that gives log-probabilities of given tokens. */
export interface Teacher extends AsyncDisposable {
  /** For messages. */
  readonly name: string;
  /**
   * Called once, before anything else.
   * @param student the policy's renderer; null where there is none.
   * @throws ConfigError when its tokenizer is known to be another one.
   */
  start(student: Renderer | null, signal: AbortSignal): Promise<void>;
  /** [row][length] log-probability of each token under the teacher; only those of trained tokens are read. */
  logprobs(
    rows: readonly TrainingRow[],
    signal: AbortSignal,
  ): Promise<readonly ArrayLike<number>[]>;
}
