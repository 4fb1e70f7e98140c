/**
 * DRO, offline regularised policy optimisation (arXiv:2405.19107), in Tinker's form:
 * -A l + (droBeta / 2) (l - o)^2.
 */
import { multiply, scale, subtract } from "../graph/ops.ts";
import type { TokenLoss } from "./token-loss.ts";

export const dro: TokenLoss = ({ logprobs, samplingLogprobs, advantages, parameters }) => {
  const distance = subtract(logprobs, samplingLogprobs);
  const penalty = multiply(scale(multiply(distance, distance), 0.5), parameters.droBeta);
  return { terms: subtract(penalty, multiply(logprobs, advantages)) };
};
