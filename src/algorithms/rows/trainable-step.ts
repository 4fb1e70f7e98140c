/** Which steps can be trained on: ids and log-probabilities complete, finite, and after some prompt. */
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
