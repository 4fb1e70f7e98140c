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

/** The optimizer at step `step`, from 1. */
export function optimOf(
  context: Pick<LoopContext, "config" | "totalSteps">,
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
