/**
 * SAPO (arXiv:2511.20347): -A gate(r), gate(r) = (4 / tau) sigmoid(tau (r - 1)), with tau for positive
 * advantages and another for the rest. Near r = 1 it is the plain ratio; further away tokens fade out
 * instead of being cut off.
 */
import { multiply, negate, select, sigmoid, subtract } from "../graph/ops.ts";
import { tokenRatio } from "./ratio.ts";
import type { TokenLoss } from "./token-loss.ts";

export const sapo: TokenLoss = ({ logprobs, samplingLogprobs, advantages, parameters }) => {
  const { graph, shape } = logprobs;
  const isPositive = graph.node("Less", [graph.scalar(0), advantages], shape, { dtype: "bool" });
  const tau = select(isPositive, parameters.sapoTauPositive, parameters.sapoTauNegative);
  const ratio = tokenRatio(logprobs, samplingLogprobs);
  const gate = sigmoid(multiply(tau, subtract(ratio, graph.scalar(1))));
  const height = graph.node("Div", [graph.scalar(4), tau], shape);
  return { terms: negate(multiply(multiply(advantages, height), gate)) };
};
