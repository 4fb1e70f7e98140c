/**
 * Direct preference optimization (Rafailov et al. 2023, arXiv:2305.18290) in numbers. With the summed
 * log-probabilities of both responses under the policy (c, r) and under the reference (C, R):
 *
 *   h = β ((c - C) - (r - R)),   loss = -log σ(h)
 *
 * The implicit rewards are β (c - C) and β (r - R).
 */

/** Summed log-probabilities of the two responses. */
export interface PairLogprobs {
  readonly chosen: number;
  readonly rejected: number;
}

export interface DpoTerm {
  readonly loss: number;
  /** Of the loss with respect to the log-probability of every chosen token; that of rejected ones is its negative. */
  readonly gradient: number;
  readonly chosenReward: number;
  readonly rejectedReward: number;
}

/** log(1 + exp(x)), without overflow. */
const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

export function dpoTerm(policy: PairLogprobs, reference: PairLogprobs, beta: number): DpoTerm {
  const chosenReward = beta * (policy.chosen - reference.chosen);
  const rejectedReward = beta * (policy.rejected - reference.rejected);
  const h = chosenReward - rejectedReward;
  return {
    loss: softplus(-h),
    gradient: -beta / (1 + Math.exp(h)),
    chosenReward,
    rejectedReward,
  };
}

/** Means over pairs, under the names that TRL's DPOTrainer logs. */
export function dpoMetrics(terms: readonly DpoTerm[]): Readonly<Record<string, number>> {
  const mean = (of: (term: DpoTerm) => number): number =>
    terms.reduce((sum, term) => sum + of(term), 0) / Math.max(1, terms.length);
  return {
    loss: mean((term) => term.loss),
    "rewards/accuracies": mean((term) => (term.chosenReward > term.rejectedReward ? 1 : 0)),
    "rewards/margins": mean((term) => term.chosenReward - term.rejectedReward),
    "rewards/chosen": mean((term) => term.chosenReward),
    "rewards/rejected": mean((term) => term.rejectedReward),
  };
}
