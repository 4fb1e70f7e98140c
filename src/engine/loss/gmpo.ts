/**
 * GMPO (arXiv:2507.20673): -A R W per row, R the geometric mean of its tokens' ratios, each limited
 * before: R = exp(mean of sgn(A) min(sgn(A) k, sgn(A) clip(k, -clipLow, clipHigh))), k = l - o, A the
 * mean advantage of the row, W the geometric mean of its weights, as in verl. Every token carries its
 * row's value; the paper's objective is the one with the aggregation `seq-mean-token-mean`.
 */
import { leastWeight } from "../../core/loss.ts";
import { add, clip, exp, minimum, multiply, negate } from "../graph/ops.ts";
import { limitedLogRatio } from "./ratio.ts";
import type { TokenLoss } from "./token-loss.ts";

export const gmpo: TokenLoss = ({
  logprobs,
  samplingLogprobs,
  advantages,
  weights,
  rowMean,
  parameters,
}) => {
  const { graph, shape } = logprobs;
  const sign = graph.node("Sign", [advantages], shape);
  const logRatio = limitedLogRatio(logprobs, samplingLogprobs);
  const plain = multiply(sign, logRatio);
  const limited = multiply(
    sign,
    clip(logRatio, parameters.lowestLogRatio, parameters.highestLogRatio),
  );
  const ratio = exp(rowMean(multiply(sign, minimum(plain, limited))));
  const logWeights = graph.node("Log", [add(weights, graph.scalar(leastWeight))], shape);
  const weight = exp(rowMean(logWeights));
  return {
    terms: negate(multiply(multiply(rowMean(advantages), ratio), weight)),
    clipped: graph.node("Less", [limited, plain], shape, { dtype: "bool" }),
    isWeighted: true,
  };
};
