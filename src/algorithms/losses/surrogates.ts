/** Losses with a probability ratio per token; the names, papers and bounds of `LossSpec`. */
import type { LossSpec } from "../../core/loss.ts";
import { perToken, type RowLoss, type TokenTerm } from "./row-loss.ts";

const clamp = (value: number, low: number, high: number): number =>
  Math.min(Math.max(value, low), high);

/** -r A, r = exp(l - o). */
export const importanceSampling: RowLoss = perToken(({ logprob, samplingLogprob, advantage }) => {
  const term = -Math.exp(logprob - samplingLogprob) * advantage;
  return { term, slope: term };
});

/** -min(r A, clip(r) A), whose slope is that of r A or none. */
function clippedSurrogate(ratio: number, advantage: number, spec: LossSpec): TokenTerm {
  const plain = ratio * advantage;
  const limited = clamp(ratio, 1 - spec.clipLow, 1 + spec.clipHigh) * advantage;
  return limited < plain
    ? { term: -limited, slope: 0, isClipped: true }
    : { term: -plain, slope: -plain, isClipped: false };
}

/** PPO (arXiv:1707.06347); with `dualClip` c a term of A < 0 is at most c |A| (arXiv:1912.09729). */
export const ppo = (spec: LossSpec): RowLoss =>
  perToken(({ logprob, samplingLogprob, advantage }) => {
    const found = clippedSurrogate(Math.exp(logprob - samplingLogprob), advantage, spec);
    const most = -(spec.dualClip ?? Infinity) * advantage;
    return advantage < 0 && most < found.term ? { ...found, term: most, slope: 0 } : found;
  });

/** CISPO (arXiv:2506.13585): -sg(clip(r)) A l. */
export const cispo = (spec: LossSpec): RowLoss =>
  perToken(({ logprob, samplingLogprob, advantage }) => {
    const ratio = Math.exp(logprob - samplingLogprob);
    const weight = clamp(ratio, 1 - spec.clipLow, 1 + spec.clipHigh);
    const slope = -weight * advantage;
    return { term: slope * logprob, slope, isClipped: weight !== ratio };
  });

/** GSPO (arXiv:2507.18071): PPO with the row's ratio, sg(s) exp(l - sg(l)), s = exp(mean of l - o). */
export const gspo = (spec: LossSpec): RowLoss =>
  perToken(({ meanLogRatio, advantage }) =>
    clippedSurrogate(Math.exp(meanLogRatio), advantage, spec),
  );

/** SAPO (arXiv:2511.20347): -A (4 / tau) sigmoid(tau (r - 1)), with tau by the advantage's sign. */
export const sapo = ({ sapoTauPositive = 1, sapoTauNegative = 1.05 }: LossSpec): RowLoss =>
  perToken(({ logprob, samplingLogprob, advantage }) => {
    const tau = advantage > 0 ? sapoTauPositive : sapoTauNegative;
    const ratio = Math.exp(logprob - samplingLogprob);
    const gate = 1 / (1 + Math.exp(-tau * (ratio - 1)));
    return {
      term: (-advantage * 4 * gate) / tau,
      slope: -advantage * 4 * gate * (1 - gate) * ratio,
    };
  });
