/**
 * GMPO (arXiv:2507.20673): every token of a row carries -A R W, R = exp(mean of the log-ratios k, each
 * limited to [-clipLow, clipHigh] where that makes sgn(A) k smaller), A the mean advantage, W the
 * geometric mean of the weights, as in verl. A term depends on every token of its row, so each gradient
 * sums over all of them.
 */
import { isLimited, limitLogRatio } from "../../core/log-ratio.ts";
import { leastWeight, type LossSpec } from "../../core/loss.ts";
import { type RowLoss, rowMean } from "./row-loss.ts";

export const gmpo =
  ({ clipLow, clipHigh }: LossSpec): RowLoss =>
  ({ logprobs, samplingLogprobs, advantages, weights }) => {
    const size = logprobs.length;
    const isClipped = new Uint8Array(size);
    const isFixed = new Uint8Array(size);
    const logRatio = rowMean(logprobs, (logprob, i) => {
      const sign = Math.sign(advantages[i]!);
      const plain = limitLogRatio(logprob - samplingLogprobs[i]!);
      const limited = Math.min(Math.max(plain, -clipLow), clipHigh);
      if (sign * limited < sign * plain) isClipped[i] = 1;
      if (isClipped[i] === 1 || sign === 0 || isLimited(logprob - samplingLogprobs[i]!))
        isFixed[i] = 1;
      return sign === 0 ? 0 : isClipped[i] === 1 ? limited : plain;
    });
    const weight = Math.exp(rowMean(weights, (value) => Math.log(value + leastWeight)));
    const term = -rowMean(advantages) * Math.exp(logRatio) * weight;
    return {
      terms: new Float64Array(size).fill(term),
      gradient: Float64Array.from(logprobs, (_, i) => (isFixed[i] === 1 ? 0 : term)),
      clipped: isClipped.reduce((sum, value) => sum + value, 0),
      isWeighted: true,
    };
  };
