/**
 * Which log-probabilities a step is trained on: those of softmax(logits / T) at the temperature T that
 * sampled, or at 1.
 */
import type { Step } from "../../core/trajectory.ts";

export const logprobTemperatures = ["sampling", "one"] as const;
/** The policy that is trained: that at the temperature that sampled, or that at 1. */
export type LogprobTemperature = (typeof logprobTemperatures)[number];

/** Greedy sampling has no temperature: it counts as temperature 1. */
function sampledTemperature({ trace }: Step): number {
  const { temperature } = trace.sampling;
  return temperature === 0 ? 1 : temperature;
}

/** The temperature of the policy that `step` trains; above 0. */
export function trainedTemperature(step: Step, which: LogprobTemperature): number {
  return which === "one" ? 1 : sampledTemperature(step);
}

/**
 * Log-probabilities at `temperature` of what was sampled; null where they were only reported at another
 * one.
 */
export function samplingLogprobs(step: Step, temperature: number): Float32Array | null {
  const { logprobs, logprobKind, temperedLogprobs } = step.trace;
  const sampled = sampledTemperature(step);
  if (temperature === 1 && sampled === 1) return logprobs;
  if (temperature === 1) return logprobKind === "raw" ? logprobs : null;
  if (temperature !== sampled) return null;
  return temperedLogprobs ?? (logprobKind === "processed" ? logprobs : null);
}
