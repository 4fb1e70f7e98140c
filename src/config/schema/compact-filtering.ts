/** Options that exclude rollouts from training by how they ended. */
import { z } from "zod";
import { isOn, needs } from "./option-meta.ts";
import type { Section } from "./section.ts";

const mask = (isMasked: boolean, how: string) =>
  z
    .boolean()
    .default(isMasked)
    .describe(`With compact_filtering.enable, exclude rollouts ${how}.`)
    .meta(needs(isOn("compact_filtering.enable")));

export const compactFilteringOptions: Section<"compactFiltering"> = z
  .strictObject({
    enable: z
      .boolean()
      .default(false)
      .describe(
        "Exclude rollouts from training, and from the baseline of their group, by how they ended; the mask_... options of this section choose which.",
      ),
    mask_max_prompt_length_exceeded: mask(
      true,
      "whose prompt exceeded data.max_prompt_length or the model's context",
    ),
    mask_max_response_length_exceeded: mask(
      true,
      "that ended with a response truncated by its token limit",
    ),
    mask_env_done: mask(false, "that the environment ended"),
    mask_max_turns_exceeded: mask(
      true,
      "that reached the maximum number of turns; functions have no such limit and report it with a TerminationEvent",
    ),
    mask_timeout: mask(true, "that timed out"),
    mask_unknown: mask(false, "whose termination reason is unknown"),
    mask_error: mask(true, "that failed because of the agent; other failures are always excluded"),
  })
  .prefault({});
