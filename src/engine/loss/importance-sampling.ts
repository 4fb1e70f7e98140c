/** Policy gradient with an importance ratio: -r A, r = p_new / p_sampling (Tinker's `importance_sampling`). */
import { multiply, negate } from "../graph/ops.ts";
import { tokenRatio } from "./ratio.ts";
import type { TokenLoss } from "./token-loss.ts";

export const importanceSampling: TokenLoss = ({ logprobs, samplingLogprobs, advantages }) => ({
  terms: negate(multiply(tokenRatio(logprobs, samplingLogprobs), advantages)),
});
