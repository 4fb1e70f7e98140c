/**
 * PPO's clipped surrogate, -min(r A, clip(r, 1 - clipLow, 1 + clipHigh) A) (arXiv:1707.06347); with
 * clipHigh > clipLow it is the clip-higher of DAPO (arXiv:2503.14476). With `dualClip` c and A < 0 a
 * term is at most c |A| (arXiv:1912.09729): a ratio far too high would otherwise have no bound.
 */
import { isNegative, minimum, multiply, negate, select } from "../graph/ops.ts";
import { clippedSurrogate } from "./clipped-surrogate.ts";
import { tokenRatio } from "./ratio.ts";
import type { TokenLoss } from "./token-loss.ts";

export const ppo: TokenLoss = ({ logprobs, samplingLogprobs, advantages, parameters }, spec) => {
  const ratio = tokenRatio(logprobs, samplingLogprobs);
  const surrogate = clippedSurrogate(ratio, advantages, parameters);
  if (typeof spec.dualClip !== "number") return surrogate;
  const most = negate(multiply(advantages, parameters.dualClip));
  const bounded = minimum(surrogate.terms, most);
  return {
    ...surrogate,
    terms: select(isNegative(advantages), bounded, surrogate.terms),
  };
};
