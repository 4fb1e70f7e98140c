/** Losses by name. */
import type { LossName } from "../../core/loss.ts";
import { crossEntropy } from "./cross-entropy.ts";
import { importanceSampling } from "./importance-sampling.ts";
import { ppo } from "./ppo.ts";
import type { TokenLoss } from "./token-loss.ts";

export const tokenLosses: Readonly<Record<LossName, TokenLoss>> = {
  importance_sampling: importanceSampling,
  ppo,
  cross_entropy: crossEntropy,
};
