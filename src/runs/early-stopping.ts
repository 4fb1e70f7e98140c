/** Decides when validations have not been better for too long. Pure. */
import type { TrainConfig } from "../config/train-config.ts";
import type { Patience } from "./checkpoint.ts";

type Options = Pick<
  TrainConfig["trainer"],
  "bestMetric" | "earlyStoppingPatience" | "earlyStoppingMinDelta"
>;

/** After another validation; one without a value of the metric counts as not better. */
export function waitOn(
  before: Patience | null,
  value: number | undefined,
  { earlyStoppingMinDelta }: Options,
): Patience | null {
  if (before === null) return value === undefined ? null : { value, waited: 0 };
  const isBetter = value !== undefined && value > before.value + earlyStoppingMinDelta;
  return isBetter ? { value, waited: 0 } : { ...before, waited: before.waited + 1 };
}

/** Why the run is to stop, as a sentence; null while it may continue. */
export function whyStop(patience: Patience | null, step: number, options: Options): string | null {
  const { earlyStoppingPatience: most, bestMetric } = options;
  if (most === 0 || patience === null || patience.waited < most) return null;
  const { value, waited } = patience;
  return `Stopped early after step ${step}: ${bestMetric} has not been better than ${value} for ${waited} validation(s) (trainer.early_stopping_patience=${most}).`;
}
