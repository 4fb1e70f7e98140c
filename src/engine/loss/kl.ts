/**
 * Estimators of KL(policy, reference) from the log-probabilities l and q of a sampled token
 * (http://joschu.net/blog/kl-approx.html), all [R]; `src/core/kl.ts` has them in numbers.
 */
import { maxK3 } from "../../core/loss/kl.ts";
import { maxLogRatio } from "../../core/loss/log-ratio.ts";
import type { KlEstimator } from "../../core/loss/loss.ts";
import type { Value } from "../graph/graph.ts";
import { add, clip, exp, multiply, negate, scale, subtract } from "../graph/ops.ts";

type Estimator = (logprobs: Value, reference: Value) => Value;

export const klEstimates: Readonly<Record<KlEstimator, Estimator>> = {
  /** l - q: unbiased, can be negative; its gradient is 0 on average. */
  k1: subtract,
  /** (l - q)^2 / 2 */
  k2(logprobs, reference) {
    const distance = subtract(logprobs, reference);
    return scale(multiply(distance, distance), 0.5);
  },
  /** exp(x) - x - 1, x = q - l: unbiased and never negative. */
  k3(logprobs, reference) {
    const x = clip(subtract(reference, logprobs), -maxLogRatio, maxLogRatio);
    const estimate = add(exp(x), negate(add(x, x.graph.scalar(1))));
    return clip(estimate, -maxK3, maxK3);
  },
};
