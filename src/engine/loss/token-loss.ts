/**
 * What a policy loss is: maps vectors over the R trained tokens of a batch to one term per token.
 * `token-losses.ts` has the losses, `objective.ts` adds their terms up.
 */
import type { LossSpec } from "../../core/loss/loss.ts";
import type { Value } from "../graph/graph.ts";
import type { LossParameters } from "./parameters.ts";

/** All [R]; `logprobs` alone carries a gradient. */
export interface TokenLossInputs {
  /** log p(token) under the weights being trained. */
  readonly logprobs: Value;
  /** log p(token) when it was sampled. */
  readonly samplingLogprobs: Value;
  readonly advantages: Value;
  /** Factors on the terms. Only a loss that says `isWeighted` reads them. */
  readonly weights: Value;
  /** Each token's mean over the trained tokens of its row; [R] to [R]. */
  readonly rowMean: (x: Value) => Value;
  readonly parameters: LossParameters;
}

export interface TokenLossTerms {
  /** [R], which are then weighted and summed. */
  readonly terms: Value;
  /** [R] bool: the ratio was clipped. */
  readonly clipped?: Value;
  /** The terms already include their weights. @default false */
  readonly isWeighted?: boolean;
}

/** `spec` chooses between forms; numbers come from `inputs.parameters`, so that they may change between steps. */
export type TokenLoss = (inputs: TokenLossInputs, spec: LossSpec) => TokenLossTerms;
