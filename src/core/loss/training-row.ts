/** One sequence to train on. Data, not code: engines and remote backends both read it. */
import type { LogitRules } from "../grammar.ts";

/** A stretch of a row's tokens that came from one place. */
export interface RowSegment {
  /** Half open: tokens[start, end). */
  readonly start: number;
  readonly end: number;
  /** `response` tokens were sampled and are trained on; `prompt` tokens are context. */
  readonly kind: "prompt" | "response";
  readonly traceId: string;
  readonly weightVersion: number;
}

/** Sampled tokens whose distribution was not the model's own. */
export interface RowRules {
  /** Half open: tokens[start, end), one whole completion. */
  readonly start: number;
  readonly end: number;
  readonly rules: LogitRules;
  /** Limit of the completion's length, which token masks leave room below. */
  readonly maxTokens: number;
  readonly stopTokenIds: readonly number[];
}

/** Which trajectory of which rollout a row was made from. */
export interface RowProvenance {
  readonly taskId: string;
  readonly episodeId: string;
  readonly rolloutIndex: number;
  readonly trajectoryUid: string;
  readonly trajectoryName: string;
}

/**
 * One sequence of tokens, possibly several turns merged because each prompt extends the former prompt plus
 * response, id by id. Every array has the length of `tokens`; entry i refers to token i as predicted
 * from tokens[0, i), so entry 0 is never a target.
 */
export interface TrainingRow {
  /**
   * The policy that is trained is softmax(logits / temperature): log-probabilities, entropies and KL
   * refer to it. Above 0. @default 1
   */
  readonly temperature?: number;
  /** Of `ModelSpec.adapters`: the one that sampled the row, which it trains. @default the model's own */
  readonly adapter?: string;
  /** [length] */
  readonly tokens: Int32Array;
  /** [length] 1 where the token was sampled by the policy, else 0. */
  readonly targetMask: Uint8Array;
  /** [length] log-probability at sampling time, at `temperature`; 0 where `targetMask` is 0. */
  readonly samplingLogprobs: Float32Array;
  /**
   * Set where the server that sampled returned log-probabilities at another temperature only, so that some of
   * `samplingLogprobs` are not at `temperature`: the trainer replaces them before the update. @default false
   */
  readonly lacksSamplingLogprobs?: boolean;
  /**
   * Log-probabilities, entropies and KL of these tokens are those of the logits that the rules leave, as when
   * they were sampled. @default none
   */
  readonly rules?: readonly RowRules[];
  /** [length] 0 where `targetMask` is 0. */
  readonly advantages: Float32Array;
  /** [length] extra factor on the token's loss. @default all 1 */
  readonly weights?: Float32Array;
  /**
   * [length] weight of the cross-entropy of tokens that were not sampled, at temperature 1; the loss has their
   * weighted sum over their number in all rows of the update. 0 where `targetMask` is 1. @default none
   */
  readonly observationWeights?: Float32Array;
  /**
   * Rows with the same one are one sequence where the loss is a mean over sequences: the lineages of a trajectory,
   * which would count more the more often its agent compacts. @default a separate sequence
   */
  readonly sequence?: string;
  /**
   * [length] what a critic gave before the update, and what it is to give: of the tokens before each one. 0
   * where `targetMask` is 0. @default the row teaches no critic
   */
  readonly values?: Float32Array;
  readonly returns?: Float32Array;
  readonly segments: readonly RowSegment[];
  readonly provenance: RowProvenance;
}
