/** What a backend receives with one update: the loss, and the optimizer's parameters at that step. */
import {
  defaultClipOf,
  type LossName,
  type LossSpec,
  type OptimSpec,
} from "../../core/loss/loss.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import type { LoopContext } from "../loop-context.ts";
import { learningRateAt, warmupOf } from "../../algorithms/schedule.ts";

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

/** The optimizer at step `step`, from 1. */
export function optimOf(
  context: Pick<LoopContext, "config" | "totalSteps">,
  step: number,
): OptimSpec {
  const { training } = context.config;
  const { lrSchedule } = training;
  const learningRate = learningRateAt(
    {
      name: lrSchedule.type,
      learningRate: training.learningRate,
      warmupSteps: warmupOf(lrSchedule.warmup, context.totalSteps),
      totalSteps: context.totalSteps,
      ...("minRatio" in lrSchedule ? { minRatio: lrSchedule.minRatio } : {}),
    },
    step,
  );
  const { beta1, beta2, eps, weightDecay, maxGradNorm } = training;
  return { learningRate, beta1, beta2, eps, weightDecay, maxGradNorm };
}
