/**
 * Learning rate of each optimizer step. Steps count from 1 to N and every one of them trains: no
 * schedule reaches 0 while the base rate is above it.
 *
 * With W warm-up steps, k the step, j = k - W and D = N - W:
 *
 * - k <= W: rate * k / W
 * - constant: rate
 * - linear: s = (D - j + 1) / D, so the first step after warm-up has the full rate and the last one rate / D
 * - cosine: s = (1 + cos(pi * (j - 1) / D)) / 2
 *
 * with the rate * (m + (1 - m) s) for both, m the fraction that they decay to.
 */

export const scheduleNames = ["constant", "linear", "cosine"] as const;
export type ScheduleName = (typeof scheduleNames)[number];

export interface Schedule {
  readonly name: ScheduleName;
  readonly learningRate: number;
  readonly warmupSteps: number;
  readonly totalSteps: number;
  /** Final rate of `linear` and `cosine`, as a fraction of the base rate. @default 0 */
  readonly minRatio?: number;
}

/** Steps of a warm-up that is a number of steps, or below 1 a fraction of all steps, rounded down. */
export function warmupOf(warmup: number, totalSteps: number): number {
  return warmup < 1 ? Math.floor(totalSteps * warmup) : warmup;
}

/** Rate of step `step`, from 1. */
export function learningRateAt(schedule: Schedule, step: number): number {
  const { name, learningRate, warmupSteps, totalSteps, minRatio = 0 } = schedule;
  if (step <= warmupSteps) return (learningRate * step) / warmupSteps;
  const decaySteps = Math.max(1, totalSteps - warmupSteps);
  const j = Math.min(step - warmupSteps, decaySteps);
  if (name === "constant") return learningRate;
  const share =
    name === "linear"
      ? (decaySteps - j + 1) / decaySteps
      : (1 + Math.cos((Math.PI * (j - 1)) / decaySteps)) / 2;
  return learningRate * (minRatio + (1 - minRatio) * share);
}
