/**
 * Learning rate of each optimizer step. Steps count from 1 to N and every one of them trains: no
 * schedule reaches 0 while the base rate is above it.
 *
 * With W warm-up steps, k the step, j = k - W and D = N - W:
 *
 * - k <= W: rate * k / W
 * - constant: rate
 * - linear: rate * (D - j + 1) / D, so the first step after warm-up has the full rate and the last one rate / D
 * - cosine: rate * (1 + cos(pi * (j - 1) / D)) / 2
 */

export const scheduleNames = ["constant", "linear", "cosine"] as const;
export type ScheduleName = (typeof scheduleNames)[number];

export interface Schedule {
  readonly name: ScheduleName;
  readonly learningRate: number;
  readonly warmupSteps: number;
  readonly totalSteps: number;
}

/** Rate of step `step`, from 1. */
export function learningRateAt(schedule: Schedule, step: number): number {
  const { name, learningRate, warmupSteps, totalSteps } = schedule;
  if (step <= warmupSteps) return (learningRate * step) / warmupSteps;
  const decaySteps = Math.max(1, totalSteps - warmupSteps);
  const j = Math.min(step - warmupSteps, decaySteps);
  switch (name) {
    case "constant":
      return learningRate;
    case "linear":
      return (learningRate * (decaySteps - j + 1)) / decaySteps;
    case "cosine":
      return (learningRate * (1 + Math.cos((Math.PI * (j - 1)) / decaySteps))) / 2;
  }
}
