/**
 * Which component computes the loss of an update: the backend, if it has the loss and one is enough
 * for all roles; otherwise the trainer, from the backend's log-probabilities, and the backend
 * receives the gradients.
 */
import { isCustomName } from "../../algorithms/catalog.ts";
import { rowLossOf } from "../../core/loss/row-losses.ts";
import { toRowLoss } from "../../algorithms/losses/loss-function.ts";
import type { RowLoss } from "../../core/loss/row-loss.ts";
import type { BackendCapabilities } from "../../core/backend.ts";
import { ConfigError } from "../../core/errors.ts";
import { lossNames, type LossName, type LossSpec } from "../../core/loss/loss.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { namesByRole } from "../../config/role-map.ts";
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
  const { lossFn, lossFnMap, clipRatioC } = algorithm;
  return (
    [...namesByRole(lossFnMap).values()].every((name) => name === lossFn) &&
    (losses as readonly string[]).includes(lossFn) &&
    (clipRatioC === null || dualClip === true)
  );
}

export function planLoss(
  config: TrainConfig,
  capabilities: BackendCapabilities,
  custom: CustomLosses,
): LossPlan {
  const spec = lossOf(config);
  if (isBackendLoss(config, capabilities)) return { spec, byRole: null };
  const find = (name: string): RowLoss => {
    const given = custom.get(name);
    if (given !== undefined) return toRowLoss(given);
    if (!isCustomName(name)) return rowLossOf(name as LossName, lossOf(config, name));
    throw new ConfigError({
      message: `The options name the loss ${name}, but no function came with it.`,
      hint: `Pass the function itself as config.algorithm.lossFn, or one of ${lossNames.join(", ")}.`,
      fields: { name },
    });
  };
  const usual = find(config.algorithm.lossFn);
  const ofRoles = new Map(
    [...namesByRole(config.algorithm.lossFnMap)].map(([role, name]) => [role, find(name)]),
  );
  return { spec, byRole: (role) => ofRoles.get(role) ?? usual };
}
