/**
 * Which steps can be trained on (ids and log-probabilities complete, finite, and after some prompt), and with
 * which log-probabilities: those of softmax(logits / T) at the temperature T that sampled, or at 1.
 */
import type { Step } from "../../core/trajectory.ts";

export const stepDropReasons = [
  "no_prompt_tokens",
  "no_response_tokens",
  "logprobs_length",
  "logprobs_not_finite",
] as const;
/** Why a step cannot be trained on. */
export type StepDropReason = (typeof stepDropReasons)[number];

/** `null` when the step can be trained on. Never throws. */
export function stepDropReason({ trace }: Step): StepDropReason | null {
  const { promptIds, responseIds, logprobs, temperedLogprobs = logprobs } = trace;
  // Without a prompt the first sampled token would be token 0, which nothing predicts.
  if (promptIds.length === 0) return "no_prompt_tokens";
  if (responseIds.length === 0) return "no_response_tokens";
  for (const { length } of [logprobs, temperedLogprobs])
    if (length !== responseIds.length) return "logprobs_length";
  if (!areFinite(logprobs)) return "logprobs_not_finite";
  return temperedLogprobs === logprobs || areFinite(temperedLogprobs)
    ? null
    : "logprobs_not_finite";
}

function areFinite(values: Float32Array): boolean {
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i])) return false;
  return true;
}

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
