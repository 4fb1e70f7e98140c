/**
 * What a backend receives with one update: the loss, and the optimizer's parameters at that step. The
 * backend computes the loss if it has it and one is enough for all roles; otherwise the trainer does,
 * from the backend's log-probabilities, and the backend receives the gradients.
 */
import { isDeepStrictEqual } from "node:util";
import { isCustomName } from "../../algorithms/catalog.ts";
import { toRowLoss } from "../../algorithms/losses/loss-function.ts";
import type { LogprobTemperature } from "../../algorithms/rows/trainable-step.ts";
import { learningRateAt, warmupOf } from "../../algorithms/schedule.ts";
import { weightsOf } from "../../config/role-map.ts";
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
import type { CriticSpec } from "../../core/loss/value-loss.ts";
import { rowLossOf } from "../../core/loss/row-losses.ts";
import type { CustomLosses } from "../custom-algorithms.ts";
import type { RunContext } from "../run-context.ts";

type LossOptions = TrainConfig["algorithm"]["loss"];

/** The numbers of the loss, where it has any. */
function numbersOf(loss: LossOptions): Partial<LossSpec> {
  if (loss.type === "dro") return { droBeta: loss.beta };
  if (loss.type === "sapo") return { sapoTauPositive: loss.tauPos, sapoTauNegative: loss.tauNeg };
  if (!("epsClip" in loss)) return {};
  const usual = defaultClipOf(loss.type);
  const { epsClip, epsClipHigh } = loss;
  return {
    epsClip: epsClip ?? usual.low,
    epsClipHigh: epsClipHigh ?? epsClip ?? usual.high,
    ...("clipRatioC" in loss && loss.clipRatioC !== null ? { dualClip: loss.clipRatioC } : {}),
  };
}

/** The loss as configured. @param loss a role's own. @default `algorithm.loss` */
export function lossOf({ algorithm }: TrainConfig, loss: LossOptions = algorithm.loss): LossSpec {
  const usual = defaultClipOf(loss.type);
  const { aggregation } = algorithm;
  return {
    // Another name has passed the backend's own capabilities.
    name: loss.type as LossName,
    epsClip: usual.low,
    epsClipHigh: usual.high,
    ...numbersOf(loss),
    aggregation: aggregation.type,
    ...("length" in aggregation && aggregation.length !== null
      ? { aggregationLength: aggregation.length }
      : {}),
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
  const { lrSchedule } = training;
  const rateOf = (peak: number): number =>
    learningRateAt(
      {
        name: lrSchedule.type,
        learningRate: peak,
        warmupSteps: warmupOf(lrSchedule.warmup, context.totalSteps),
        totalSteps: context.totalSteps,
        ...("minRatio" in lrSchedule ? { minRatio: lrSchedule.minRatio } : {}),
      },
      step,
    );
  const { beta1, beta2, eps, weightDecay, maxGradNorm } = training;
  const rates = Array.from(weightsOf(training.learningRateByAdapter), ([name, peak]) => [
    name,
    rateOf(peak),
  ]);
  return {
    ...{ learningRate: rateOf(training.learningRate), beta1, beta2, eps, weightDecay, maxGradNorm },
    ...(rates.length === 0 ? {} : { adapterLearningRates: Object.fromEntries(rates) }),
  };
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
  const { loss, lossByRole } = algorithm;
  const hasDualClip = "clipRatioC" in loss && loss.clipRatioC !== null;
  return (
    lossByRole.every((one) => isDeepStrictEqual(one, { role: one.role, ...loss })) &&
    (losses as readonly string[]).includes(loss.type) &&
    (!hasDualClip || dualClip === true)
  );
}

/** The same loss for an update in which the critic learns, too, or alone. */
export function withCritic({ spec, byRole }: LossPlan, critic: CriticSpec | null): LossPlan {
  if (critic === null) return { spec, byRole };
  return { spec: { ...spec, critic }, byRole: critic.isWarmup ? null : byRole };
}

export function planLoss(
  config: TrainConfig,
  capabilities: BackendCapabilities,
  custom: CustomLosses,
): LossPlan {
  const spec = lossOf(config);
  if (isBackendLoss(config, capabilities)) return { spec, byRole: null };
  const find = (loss: LossOptions): RowLoss => {
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
