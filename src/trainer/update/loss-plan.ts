/**
 * Which component computes the loss of an update: the backend, if it has the loss and one is enough
 * for all roles; otherwise the trainer, from the backend's log-probabilities, and the backend
 * receives the gradients.
 */
import { isDeepStrictEqual } from "node:util";
import { isCustomName } from "../../algorithms/catalog.ts";
import { rowLossOf } from "../../core/loss/row-losses.ts";
import { toRowLoss } from "../../algorithms/losses/loss-function.ts";
import type { RowLoss } from "../../core/loss/row-loss.ts";
import type { BackendCapabilities } from "../../core/backend.ts";
import { ConfigError } from "../../core/errors.ts";
import { lossNames, type LossSpec } from "../../core/loss/loss.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import type { CustomLosses } from "../custom-algorithms.ts";
import { lossOf } from "./update-spec.ts";

export interface LossPlan {
  /** The loss, or the part of it that the backend still computes: aggregation, KL, entropy. */
  readonly spec: LossSpec;
  /** By role, where the trainer computes it; null where the backend does. */
  readonly byRole: ((role: string) => RowLoss) | null;
}

/** Whether the backend can train on gradients that are computed outside of it. */
export function supportsTrainerLoss({ forward, losses }: BackendCapabilities): boolean {
  return forward && losses.includes("importance_sampling");
}

/** Whether the backend computes everything requested itself. */
export function isBackendLoss(
  { algorithm }: Pick<TrainConfig, "algorithm">,
  { losses, dualClip }: BackendCapabilities,
): boolean {
  const { loss, lossByRole } = algorithm;
  const hasDualClip = "clipRatioC" in loss && loss.clipRatioC !== null;
  return (
    lossByRole.every(({ role: _, ...own }) => isDeepStrictEqual(own, loss)) &&
    (losses as readonly string[]).includes(loss.type) &&
    (!hasDualClip || dualClip === true)
  );
}

export function planLoss(
  config: TrainConfig,
  capabilities: BackendCapabilities,
  custom: CustomLosses,
): LossPlan {
  const spec = lossOf(config);
  if (isBackendLoss(config, capabilities)) return { spec, byRole: null };
  const find = (loss: TrainConfig["algorithm"]["loss"]): RowLoss => {
    const name = loss.type;
    const given = custom.get(name);
    if (given !== undefined) return toRowLoss(given);
    if (!isCustomName(name)) return rowLossOf(name, lossOf(config, loss));
    throw new ConfigError({
      message: `The options name the loss ${name}, but no function came with it.`,
      hint: `Pass the function itself as config.algorithm.loss, or one of ${lossNames.join(", ")}.`,
      fields: { name },
    });
  };
  const usual = find(config.algorithm.loss);
  const ofRoles = new Map(config.algorithm.lossByRole.map((loss) => [loss.role, find(loss)]));
  return { spec, byRole: (role) => ofRoles.get(role) ?? usual };
}
