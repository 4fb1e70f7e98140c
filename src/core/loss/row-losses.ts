/**
 * Policy losses in numbers: formula, paper, code, to be compared by eye; `token_losses.py` of the verl bridge
 * has the same page in torch. Each gradient is d term / d logprob, derived by hand. l and o are the
 * log-probabilities of a token now and when it was sampled, A its advantage, r = exp(l - o) with l - o
 * within ±20 (`log-ratio.ts`), sg stops the gradient.
 */
import { clipRatio, isLimited, largestRowLogRatio, limitLogRatio, ratioOf } from "./log-ratio.ts";
import { leastWeight, type LossName, type LossSpec } from "./loss.ts";
import { perToken, type RowLoss, rowMean, type TokenTerm } from "./row-loss.ts";

/** Policy gradient with an importance ratio: -r A. */
const importanceSampling: RowLoss = perToken(({ logprob, samplingLogprob, advantage }) => {
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
  const limited = clipRatio(ratio, spec) * advantage;
  return limited < plain
    ? { term: -limited, gradient: 0, isClipped: true }
    : { term: -plain, gradient: isAtLimit ? 0 : -plain, isClipped: false };
}

/** PPO (arXiv:1707.06347); with `dualClip` c a term of A < 0 is at most c |A| (arXiv:1912.09729). */
const ppo = (spec: LossSpec): RowLoss =>
  perToken(({ logprob, samplingLogprob, advantage }) => {
    const logRatio = logprob - samplingLogprob;
    const ratio = { value: ratioOf(logRatio), isAtLimit: isLimited(logRatio) };
    const found = clippedSurrogate(ratio, advantage, spec);
    const most = -(spec.dualClip ?? Infinity) * advantage;
    return advantage < 0 && most < found.term ? { ...found, term: most, gradient: 0 } : found;
  });

/** CISPO (arXiv:2506.13585): -sg(clip(r)) A l. */
const cispo = (spec: LossSpec): RowLoss =>
  perToken(({ logprob, samplingLogprob, advantage }) => {
    const ratio = ratioOf(logprob - samplingLogprob);
    const weight = clipRatio(ratio, spec);
    const gradient = -weight * advantage;
    return { term: gradient * logprob, gradient, isClipped: weight !== ratio };
  });

/** GSPO (arXiv:2507.18071): PPO with the row's ratio, sg(s) exp(l - sg(l)), s = exp(mean of l - o). */
const gspo = (spec: LossSpec): RowLoss =>
  perToken(({ meanLogRatio, advantage }) => {
    const isAtLimit = meanLogRatio > largestRowLogRatio;
    const value = Math.exp(isAtLimit ? largestRowLogRatio : meanLogRatio);
    return clippedSurrogate({ value, isAtLimit }, advantage, spec);
  });

/**
 * GMPO (arXiv:2507.20673): every token of a row carries -A R W, R = exp(mean of the log-ratios k, each
 * limited to [-epsClip, epsClipHigh] where that makes sgn(A) k smaller), A the mean advantage, W the
 * geometric mean of the weights, as in verl. A term depends on every token of its row, so each gradient
 * sums over all of them.
 */
const gmpo =
  ({ epsClip, epsClipHigh }: LossSpec): RowLoss =>
  ({ logprobs, samplingLogprobs, advantages, weights }) => {
    const size = logprobs.length;
    const isClipped = new Uint8Array(size);
    const isFixed = new Uint8Array(size);
    const logRatio = rowMean(logprobs, (logprob, i) => {
      const sign = Math.sign(advantages[i]!);
      const plain = limitLogRatio(logprob - samplingLogprobs[i]!);
      const limited = Math.min(Math.max(plain, -epsClip), epsClipHigh);
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

/** SAPO (arXiv:2511.20347): -A (4 / tau) sigmoid(tau (r - 1)), with tau by the advantage's sign. */
const sapo = ({ sapoTauPositive = 1, sapoTauNegative = 1.05 }: LossSpec): RowLoss =>
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

/** DRO (arXiv:2405.19107) in Tinker's form: -A l + (droBeta / 2) (l - o)^2. */
const dro = ({ droBeta = 0.05 }: LossSpec): RowLoss =>
  perToken(({ logprob, samplingLogprob, advantage }) => {
    const distance = logprob - samplingLogprob;
    return {
      term: (droBeta / 2) * distance ** 2 - advantage * logprob,
      gradient: droBeta * distance - advantage,
    };
  });

/** Supervised learning: -l. */
const crossEntropy: RowLoss = perToken(({ logprob }) => ({ term: -logprob, gradient: -1 }));

const makers: Readonly<Record<LossName, (spec: LossSpec) => RowLoss>> = {
  importance_sampling: () => importanceSampling,
  ppo,
  cispo,
  gspo,
  gmpo,
  sapo,
  dro,
  cross_entropy: () => crossEntropy,
};

/** The loss `name` with the parameters of `spec`. */
export function rowLossOf(name: LossName, spec: LossSpec): RowLoss {
  return makers[name](spec);
}
