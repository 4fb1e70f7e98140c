/** Policy gradient with an importance ratio: -r A, r = p_new / p_sampling (Tinker's `importance_sampling`). */
import { exp, multiply, negate, subtract } from "../graph/ops.ts";
import type { TokenLoss } from "./token-loss.ts";

export const importanceSampling: TokenLoss = ({ logprobs, samplingLogprobs, advantages }) => ({
  terms: negate(multiply(exp(subtract(logprobs, samplingLogprobs)), advantages)),
});
