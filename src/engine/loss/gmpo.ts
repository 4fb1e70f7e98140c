/**
 * GMPO (arXiv:2507.20673): -A R per row, R the geometric mean of its tokens' ratios, each limited
 * before: R = exp(mean of sgn(A) min(sgn(A) k, sgn(A) clip(k, -clipLow, clipHigh))), k = l - o, A the
 * mean advantage of the row. Every token carries its row's value; the paper's objective is the one
 * with the aggregation `seq-mean-token-mean`.
 */
import { clip, exp, minimum, multiply, negate, subtract } from "../graph/ops.ts";
import type { TokenLoss } from "./token-loss.ts";

export const gmpo: TokenLoss = ({
  logprobs,
  samplingLogprobs,
  advantages,
  rowMean,
  parameters,
}) => {
  const { graph, shape } = logprobs;
  const sign = graph.node("Sign", [advantages], shape);
  const plain = multiply(sign, subtract(logprobs, samplingLogprobs));
  const limited = multiply(
    sign,
    clip(
      subtract(logprobs, samplingLogprobs),
      parameters.lowestLogRatio,
      parameters.highestLogRatio,
    ),
  );
  const ratio = exp(rowMean(multiply(sign, minimum(plain, limited))));
  return {
    terms: negate(multiply(rowMean(advantages), ratio)),
    clipped: graph.node("Less", [limited, plain], shape, { dtype: "bool" }),
  };
};
