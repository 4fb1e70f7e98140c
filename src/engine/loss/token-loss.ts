/**
 * A policy loss as a graph over the trained tokens of a batch. Each loss is one file that turns the
 * vectors below into one term per token; `catalog.ts` finds it by name. The sum of
 * `weights * terms` is minimised; aggregation is in the weights.
 */
import type { LossSpec } from "../../core/loss.ts";
import type { Value } from "../graph/graph.ts";

/** All [R], R trained tokens; `logprobs` alone carries a gradient. */
export interface TokenLossInputs {
  /** log p(token) under the weights being trained. */
  readonly logprobs: Value;
  /** log p(token) when it was sampled. */
  readonly samplingLogprobs: Value;
  readonly advantages: Value;
}

export type TokenLoss = (inputs: TokenLossInputs, spec: LossSpec) => Value;
