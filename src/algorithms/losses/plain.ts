/** Losses without a probability ratio. */
import type { LossSpec } from "../../core/loss.ts";
import { perToken, type RowLoss } from "./row-loss.ts";

/** Supervised learning: -l. */
export const crossEntropy: RowLoss = perToken(({ logprob }) => ({ term: -logprob, gradient: -1 }));

/** DRO (arXiv:2405.19107) in Tinker's form: -A l + (droBeta / 2) (l - o)^2. */
export const dro = ({ droBeta = 0.05 }: LossSpec): RowLoss =>
  perToken(({ logprob, samplingLogprob, advantage }) => {
    const distance = logprob - samplingLogprob;
    return {
      term: (droBeta / 2) * distance ** 2 - advantage * logprob,
      gradient: droBeta * distance - advantage,
    };
  });
