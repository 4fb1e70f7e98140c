/**
 * GSPO (arXiv:2507.18071): PPO's surrogate with one ratio per row, s = exp(mean of l - o over its
 * trained tokens), in the token form of its section 4.3: s_t = sg(s) exp(l - sg(l)), whose gradient is
 * that of s where all tokens of a row have the same advantage. The paper's objective is the one with
 * the aggregation `seq-mean-token-mean`. The mean log-ratio is at most 10.
 */
import { largestRowLogRatio } from "../../core/log-ratio.ts";
import { add, clip, detach, exp, subtract } from "../graph/ops.ts";
import { clippedSurrogate } from "./clipped-surrogate.ts";
import type { TokenLoss } from "./token-loss.ts";

export const gspo: TokenLoss = ({
  logprobs,
  samplingLogprobs,
  advantages,
  rowMean,
  parameters,
}) => {
  const fixed = detach(logprobs);
  const ofRow = rowMean(subtract(fixed, samplingLogprobs));
  const ratio = exp(clip(add(subtract(logprobs, fixed), ofRow), -Infinity, largestRowLogRatio));
  return clippedSurrogate(ratio, advantages, parameters);
};
