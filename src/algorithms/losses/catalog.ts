/** The losses by the names that a config uses. */
import type { LossName, LossSpec } from "../../core/loss.ts";
import { gmpo } from "./gmpo.ts";
import { crossEntropy, dro } from "./plain.ts";
import type { RowLoss } from "./row-loss.ts";
import { cispo, gspo, importanceSampling, ppo, sapo } from "./surrogates.ts";

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
