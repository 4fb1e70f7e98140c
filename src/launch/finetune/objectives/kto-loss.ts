/**
 * Kahneman-Tversky optimization (Ethayarajh et al. 2024, arXiv:2402.01306) in numbers. With the summed
 * log-probability of a response under the policy (p) and the reference (R), and z, an estimate of the KL
 * divergence of the policy from the reference:
 *
 *   desirable:   loss = w (1 - σ(β ((p - R) - z)))
 *   undesirable: loss = w (1 - σ(β (z - (p - R))))
 *
 * The implicit reward is β (p - R). z is a constant: no gradient goes through it.
 */

/** One response: its summed log-probabilities, and what was thought of it. */
export interface LabelledLogprobs {
  readonly policy: number;
  readonly reference: number;
  readonly isDesirable: boolean;
}

export interface KtoWeights {
  readonly beta: number;
  readonly desirableWeight: number;
  readonly undesirableWeight: number;
}

export interface KtoTerm {
  readonly loss: number;
  /** Of the loss with respect to the log-probability of every trained token. */
  readonly gradient: number;
  readonly reward: number;
  readonly isDesirable: boolean;
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/** The mean of log p - log p of the reference over completions of other prompts; never below 0. */
export function klEstimate(logRatios: readonly number[]): number {
  return Math.max(0, logRatios.reduce((sum, each) => sum + each, 0) / logRatios.length);
}

export function ktoTerm(
  { policy, reference, isDesirable }: LabelledLogprobs,
  kl: number,
  { beta, desirableWeight, undesirableWeight }: KtoWeights,
): KtoTerm {
  const reward = beta * (policy - reference);
  const sign = isDesirable ? 1 : -1;
  const weight = isDesirable ? desirableWeight : undesirableWeight;
  const h = sign * (reward - beta * kl);
  // 1 - σ(h) as σ(-h): exact where σ(h) is close to 1.
  const loss = weight * sigmoid(-h);
  return { loss, gradient: -sign * beta * loss * sigmoid(h), reward, isDesirable };
}

/** Means over examples, under the names that TRL's KTOTrainer logs; those of a label that is absent are left out. */
export function ktoMetrics(
  terms: readonly KtoTerm[],
  kl: number,
): Readonly<Record<string, number>> {
  const mean = (of: readonly number[]): number => of.reduce((sum, x) => sum + x, 0) / of.length;
  const rewardsOf = (wanted: boolean): readonly number[] =>
    terms.flatMap(({ isDesirable, reward }) => (isDesirable === wanted ? [reward] : []));
  const [chosen, rejected] = [rewardsOf(true), rewardsOf(false)];
  return {
    loss: mean(terms.map(({ loss }) => loss)),
    kl,
    ...(chosen.length === 0 ? {} : { "rewards/chosen": mean(chosen) }),
    ...(rejected.length === 0 ? {} : { "rewards/rejected": mean(rejected) }),
    ...(chosen.length === 0 || rejected.length === 0
      ? {}
      : { "rewards/margins": mean(chosen) - mean(rejected) }),
    "examples/chosen": chosen.length,
    "examples/rejected": rejected.length,
  };
}
