/** Losses with a probability ratio per token; the names, papers and bounds of `LossSpec`. */
import { isLimited, largestRowLogRatio, ratioOf } from "../../core/log-ratio.ts";
import type { LossSpec } from "../../core/loss.ts";
import { perToken, type RowLoss, type TokenTerm } from "./row-loss.ts";

const clamp = (value: number, low: number, high: number): number =>
  Math.min(Math.max(value, low), high);

/** -r A, r = exp(l - o). */
export const importanceSampling: RowLoss = perToken(({ logprob, samplingLogprob, advantage }) => {
  const logRatio = logprob - samplingLogprob;
  const term = -ratioOf(logRatio) * advantage;
  return { term, gradient: isLimited(logRatio) ? 0 : term };
});

interface Ratio {
  readonly value: number;
  /** Beyond the limits of `log-ratio.ts`, so it has no gradient. */
  readonly isAtLimit: boolean;
}

/** -min(r A, clip(r) A), whose gradient is that of r A or 0. */
function clippedSurrogate(
  { value: ratio, isAtLimit }: Ratio,
  advantage: number,
  spec: LossSpec,
): TokenTerm {
  const plain = ratio * advantage;
  const limited = clamp(ratio, 1 - spec.clipLow, 1 + spec.clipHigh) * advantage;
  return limited < plain
    ? { term: -limited, gradient: 0, isClipped: true }
    : { term: -plain, gradient: isAtLimit ? 0 : -plain, isClipped: false };
}

/** PPO (arXiv:1707.06347); with `dualClip` c a term of A < 0 is at most c |A| (arXiv:1912.09729). */
export const ppo = (spec: LossSpec): RowLoss =>
  perToken(({ logprob, samplingLogprob, advantage }) => {
    const logRatio = logprob - samplingLogprob;
    const ratio = { value: ratioOf(logRatio), isAtLimit: isLimited(logRatio) };
    const found = clippedSurrogate(ratio, advantage, spec);
    const most = -(spec.dualClip ?? Infinity) * advantage;
    return advantage < 0 && most < found.term ? { ...found, term: most, gradient: 0 } : found;
  });

/** CISPO (arXiv:2506.13585): -sg(clip(r)) A l. */
export const cispo = (spec: LossSpec): RowLoss =>
  perToken(({ logprob, samplingLogprob, advantage }) => {
    const ratio = ratioOf(logprob - samplingLogprob);
    const weight = clamp(ratio, 1 - spec.clipLow, 1 + spec.clipHigh);
    const gradient = -weight * advantage;
    return { term: gradient * logprob, gradient, isClipped: weight !== ratio };
  });

/** GSPO (arXiv:2507.18071): PPO with the row's ratio, sg(s) exp(l - sg(l)), s = exp(mean of l - o). */
export const gspo = (spec: LossSpec): RowLoss =>
  perToken(({ meanLogRatio, advantage }) => {
    const isAtLimit = meanLogRatio > largestRowLogRatio;
    const value = Math.exp(isAtLimit ? largestRowLogRatio : meanLogRatio);
    return clippedSurrogate({ value, isAtLimit }, advantage, spec);
  });

/** SAPO (arXiv:2511.20347): -A (4 / tau) sigmoid(tau (r - 1)), with tau by the advantage's sign. */
export const sapo = ({ sapoTauPositive = 1, sapoTauNegative = 1.05 }: LossSpec): RowLoss =>
  perToken(({ logprob, samplingLogprob, advantage }) => {
    const tau = advantage > 0 ? sapoTauPositive : sapoTauNegative;
    const logRatio = logprob - samplingLogprob;
    const ratio = ratioOf(logRatio);
    const gate = 1 / (1 + Math.exp(-tau * (ratio - 1)));
    return {
      term: (-advantage * 4 * gate) / tau,
      gradient: isLimited(logRatio) ? 0 : -advantage * 4 * gate * (1 - gate) * ratio,
    };
  });
