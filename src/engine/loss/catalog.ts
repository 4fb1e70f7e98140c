/** Losses by name. */
import type { LossName } from "../../core/loss.ts";
import { cispo } from "./cispo.ts";
import { crossEntropy } from "./cross-entropy.ts";
import { dro } from "./dro.ts";
import { gmpo } from "./gmpo.ts";
import { gspo } from "./gspo.ts";
import { importanceSampling } from "./importance-sampling.ts";
import { ppo } from "./ppo.ts";
import { sapo } from "./sapo.ts";
import type { TokenLoss } from "./token-loss.ts";

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
