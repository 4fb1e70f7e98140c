/**
 * Policy losses as graphs: formula, paper, code, to be compared by eye; `token_losses.py` of the verl
 * bridge has the same page in torch, `src/core/loss/row-losses.ts` in numbers. l and o are the log-probabilities of a token now and when it was
 * sampled, A its advantage, r = exp(l - o) with l - o within ±20 (`log-ratio.ts`), sg stops the gradient.
 */
import { largestRowLogRatio, maxLogRatio } from "../../core/loss/log-ratio.ts";
import { leastWeight, type LossName } from "../../core/loss/loss.ts";
import type { Value } from "../graph/graph.ts";
import {
  add,
  clip,
  detach,
  exp,
  isNegative,
  minimum,
  multiply,
  negate,
  scale,
  select,
  sigmoid,
  subtract,
} from "../graph/ops.ts";
import type { LossParameters } from "./parameters.ts";
import type { TokenLoss, TokenLossTerms } from "./token-loss.ts";

/** l - o within ±20; no gradient outside. */
function limitedLogRatio(logprobs: Value, samplingLogprobs: Value): Value {
  return clip(subtract(logprobs, samplingLogprobs), -maxLogRatio, maxLogRatio);
}

/** exp(l - o). */
function tokenRatio(logprobs: Value, samplingLogprobs: Value): Value {
  return exp(limitedLogRatio(logprobs, samplingLogprobs));
}

/** -min(r A, clip(r, low, high) A), and where the clipped product is the minimum. */
function clippedSurrogate(
  ratio: Value,
  advantages: Value,
  { lowestRatio, highestRatio }: LossParameters,
): Required<Pick<TokenLossTerms, "terms" | "clipped">> {
  const { graph, shape } = ratio;
  const plain = multiply(ratio, advantages);
  const limited = multiply(clip(ratio, lowestRatio, highestRatio), advantages);
  return {
    terms: negate(minimum(plain, limited)),
    clipped: graph.node("Less", [limited, plain], shape, { dtype: "bool" }),
  };
}

/** Policy gradient with an importance ratio: -r A, r = p_new / p_sampling (Tinker's `importance_sampling`). */
const importanceSampling: TokenLoss = ({ logprobs, samplingLogprobs, advantages }) => ({
  terms: negate(multiply(tokenRatio(logprobs, samplingLogprobs), advantages)),
});

/**
 * PPO's clipped surrogate, -min(r A, clip(r, 1 - epsClip, 1 + epsClipHigh) A) (arXiv:1707.06347); with
 * epsClipHigh > epsClip it is the clip-higher of DAPO (arXiv:2503.14476). With `dualClip` c and A < 0 a
 * term is at most c |A| (arXiv:1912.09729): otherwise a very large ratio would be unbounded.
 */
const ppo: TokenLoss = ({ logprobs, samplingLogprobs, advantages, parameters }, spec) => {
  const ratio = tokenRatio(logprobs, samplingLogprobs);
  const surrogate = clippedSurrogate(ratio, advantages, parameters);
  if (typeof spec.dualClip !== "number") return surrogate;
  const most = negate(multiply(advantages, parameters.dualClip));
  const bounded = minimum(surrogate.terms, most);
  return {
    ...surrogate,
    terms: select(isNegative(advantages), bounded, surrogate.terms),
  };
};

/**
 * CISPO (MiniMax-M1, arXiv:2506.13585): -sg(clip(r, 1 - epsClip, 1 + epsClipHigh)) A l. The ratio is a
 * weight without a gradient, so that clipped tokens still learn.
 */
const cispo: TokenLoss = ({ logprobs, samplingLogprobs, advantages, parameters }) => {
  const { graph, shape } = logprobs;
  const ratio = tokenRatio(detach(logprobs), samplingLogprobs);
  const weight = clip(ratio, parameters.lowestRatio, parameters.highestRatio);
  const same = graph.node("Equal", [ratio, weight], shape, { dtype: "bool" });
  return {
    terms: negate(multiply(multiply(weight, advantages), logprobs)),
    clipped: graph.node("Not", [same], shape, { dtype: "bool" }),
  };
};

/**
 * GSPO (arXiv:2507.18071): PPO's surrogate with one ratio per row, s = exp(mean of l - o over its
 * trained tokens), in the token form of its section 4.3: s_t = sg(s) exp(l - sg(l)), whose gradient is
 * that of s where all tokens of a row have the same advantage. The paper's objective is the one with
 * the aggregation `seq-mean-token-mean`. The mean log-ratio is at most 10.
 */
const gspo: TokenLoss = ({ logprobs, samplingLogprobs, advantages, rowMean, parameters }) => {
  const fixed = detach(logprobs);
  const ofRow = rowMean(subtract(fixed, samplingLogprobs));
  const ratio = exp(clip(add(subtract(logprobs, fixed), ofRow), -Infinity, largestRowLogRatio));
  return clippedSurrogate(ratio, advantages, parameters);
};

/**
 * GMPO (arXiv:2507.20673): -A R W per row, R the geometric mean of its tokens' ratios, each clipped
 * before: R = exp(mean of sgn(A) min(sgn(A) k, sgn(A) clip(k, -epsClip, epsClipHigh))), k = l - o, A the
 * mean advantage of the row, W the geometric mean of its weights, as in verl. Every token carries its
 * row's value; the paper's objective is the one with the aggregation `seq-mean-token-mean`.
 */
const gmpo: TokenLoss = ({
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

/**
 * SAPO (arXiv:2511.20347): -A gate(r), gate(r) = (4 / tau) sigmoid(tau (r - 1)), with tau for positive
 * advantages and another for the rest. Near r = 1 it is the plain ratio; further away tokens fade out
 * instead of being cut off.
 */
const sapo: TokenLoss = ({ logprobs, samplingLogprobs, advantages, parameters }) => {
  const { graph, shape } = logprobs;
  const isPositive = graph.node("Less", [graph.scalar(0), advantages], shape, { dtype: "bool" });
  const tau = select(isPositive, parameters.sapoTauPositive, parameters.sapoTauNegative);
  const ratio = tokenRatio(logprobs, samplingLogprobs);
  const gate = sigmoid(multiply(tau, subtract(ratio, graph.scalar(1))));
  const height = graph.node("Div", [graph.scalar(4), tau], shape);
  return { terms: negate(multiply(multiply(advantages, height), gate)) };
};

/**
 * DRO, offline regularized policy optimization (arXiv:2405.19107), in Tinker's form:
 * -A l + (droBeta / 2) (l - o)^2.
 */
const dro: TokenLoss = ({ logprobs, samplingLogprobs, advantages, parameters }) => {
  const distance = subtract(logprobs, samplingLogprobs);
  const penalty = multiply(scale(multiply(distance, distance), 0.5), parameters.droBeta);
  return { terms: subtract(penalty, multiply(logprobs, advantages)) };
};

/** Supervised learning: -l, l = log p(token). */
const crossEntropy: TokenLoss = ({ logprobs }) => ({ terms: negate(logprobs) });

/** By the names that options use. */
export const tokenLosses: Readonly<Record<LossName, TokenLoss>> = {
  importance_sampling: importanceSampling,
  ppo,
  cispo,
  gspo,
  gmpo,
  sapo,
  dro,
  cross_entropy: crossEntropy,
};
