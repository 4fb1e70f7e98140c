/**
 * GMPO (arXiv:2507.20673): every token of a row carries -A R, R = exp(mean of the log-ratios k, each
 * limited to [-clipLow, clipHigh] where that makes sgn(A) k smaller), A the mean advantage. A term
 * depends on every token of its row, so each slope sums over all of them.
 */
import type { LossSpec } from "../../core/loss.ts";
import { type RowLoss, rowMean } from "./row-loss.ts";

export const gmpo =
  ({ clipLow, clipHigh }: LossSpec): RowLoss =>
  ({ logprobs, samplingLogprobs, advantages, weights }) => {
    const size = logprobs.length;
    const isLimited = new Uint8Array(size);
    const logRatio = rowMean(logprobs, (logprob, i) => {
      const sign = Math.sign(advantages[i]!);
      const plain = logprob - samplingLogprobs[i]!;
      const limited = Math.min(Math.max(plain, -clipLow), clipHigh);
      if (sign * limited < sign * plain) isLimited[i] = 1;
      return sign === 0 ? 0 : isLimited[i] === 1 ? limited : plain;
    });
    const term = -rowMean(advantages) * Math.exp(logRatio);
    const share = rowMean(weights);
    return {
      terms: new Float64Array(size).fill(term),
      gradient: Float64Array.from(logprobs, (_, i) =>
        isLimited[i] === 1 || advantages[i] === 0 ? 0 : term * share,
      ),
      clipped: isLimited.reduce((sum, value) => sum + value, 0),
    };
  };
