/**
 * What a backend receives with one update: the loss, and the optimizer's parameters at that step. The
 * backend computes the loss if it has it and one is enough for all roles; otherwise the trainer does,
 * from the backend's log-probabilities, and the backend receives the gradients.
 */
import { isCustomName } from "../../algorithms/catalog.ts";
import { toRowLoss } from "../../algorithms/losses/loss-function.ts";
import type { LogprobTemperature } from "../../algorithms/rows/trainable-step.ts";
import { learningRateAt, warmupOf } from "../../algorithms/schedule.ts";
import { namesByRole } from "../../config/role-map.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import type { BackendCapabilities } from "../../core/backend.ts";
import { ConfigError } from "../../core/errors.ts";
import {
  defaultClipOf,
  lossNames,
  type LossName,
  type LossSpec,
  type OptimSpec,
} from "../../core/loss/loss.ts";
import type { RowLoss } from "../../core/loss/row-loss.ts";
import { rowLossOf } from "../../core/loss/row-losses.ts";
import type { CustomLosses } from "../custom-algorithms.ts";
import type { RunContext } from "../run-context.ts";

/** The loss as configured. @param name of a role's own loss. @default `algorithm.loss_fn` */
export function lossOf({ algorithm }: TrainConfig, name: string = algorithm.lossFn): LossSpec {
  const usual = defaultClipOf(name);
  return {
    // Another name has passed the backend's own capabilities.
    name: name as LossName,
    epsClip: algorithm.epsClip ?? usual.low,
    epsClipHigh: algorithm.epsClipHigh ?? algorithm.epsClip ?? usual.high,
    aggregation: algorithm.lossAggMode,
    ...(algorithm.lossScaleFactor === null ? {} : { aggregationLength: algorithm.lossScaleFactor }),
    droBeta: algorithm.droBeta,
    sapoTauPositive: algorithm.sapoTauPos,
    sapoTauNegative: algorithm.sapoTauNeg,
    ...(algorithm.clipRatioC === null ? {} : { dualClip: algorithm.clipRatioC }),
    ...(algorithm.klBeta === 0
      ? {}
      : { kl: { coef: algorithm.klBeta, estimator: algorithm.klEstimator } }),
    ...(algorithm.entropyCoef === 0 ? {} : { entropyCoef: algorithm.entropyCoef }),
  };
}

/** The policy that is trained where sampling has another temperature than 1, as configured if the backend supports it. */
export function logprobTemperatureOf(
  { algorithm }: TrainConfig,
  { temperature = false }: BackendCapabilities,
): LogprobTemperature {
  return temperature ? algorithm.logprobTemperature : "one";
}

/** The optimizer at step `step`, from 1. */
export function optimOf(
  context: Pick<RunContext, "config" | "totalSteps">,
  step: number,
): OptimSpec {
  const { training } = context.config;
  const learningRate = learningRateAt(
    {
      name: training.lrSchedule,
      learningRate: training.learningRate,
      warmupSteps: warmupOf(training.warmupSteps, training.warmupStepsRatio, context.totalSteps),
      totalSteps: context.totalSteps,
      minRatio: training.minLrRatio,
    },
    step,
  );
  const { beta1, beta2, eps, weightDecay, maxGradNorm } = training;
  return { learningRate, beta1, beta2, eps, weightDecay, maxGradNorm };
}

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
