/** PPO's clipped surrogate: -min(r A, clip(r, 1 - clipLow, 1 + clipHigh) A) (arXiv:1707.06347). */
import { clip, exp, minimum, multiply, negate, subtract } from "../graph/ops.ts";
import type { TokenLoss } from "./token-loss.ts";

export const ppo: TokenLoss = (
  { logprobs, samplingLogprobs, advantages },
  { clipLow, clipHigh },
) => {
  const ratio = exp(subtract(logprobs, samplingLogprobs));
  const clipped = clip(ratio, 1 - clipLow, 1 + clipHigh);
  return negate(minimum(multiply(ratio, advantages), multiply(clipped, advantages)));
};
