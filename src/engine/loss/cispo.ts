/**
 * CISPO (MiniMax-M1, arXiv:2506.13585): -sg(clip(r, 1 - clipLow, 1 + clipHigh)) A l. The ratio is a
 * weight without a gradient, so that clipped tokens still learn.
 */
import { clip, detach, multiply, negate } from "../graph/ops.ts";
import { tokenRatio } from "./ratio.ts";
import type { TokenLoss } from "./token-loss.ts";

export const cispo: TokenLoss = ({ logprobs, samplingLogprobs, advantages, parameters }) => {
  const { graph, shape } = logprobs;
  const ratio = tokenRatio(detach(logprobs), samplingLogprobs);
  const weight = clip(ratio, parameters.lowestRatio, parameters.highestRatio);
  const same = graph.node("Equal", [ratio, weight], shape, { dtype: "bool" });
  return {
    terms: negate(multiply(multiply(weight, advantages), logprobs)),
    clipped: graph.node("Not", [same], shape, { dtype: "bool" }),
  };
};
