/** Options of which rollouts are left out by how they ended. */
import { z } from "zod";
import { isOn, needs } from "./option-meta.ts";
import type { Section } from "./section.ts";

const mask = (isMasked: boolean, how: string) =>
  z
    .boolean()
    .default(isMasked)
    .describe(`Those ${how}.`)
    .meta(needs(isOn("compact_filtering.enable")));

export const compactFilteringOptions: Section<"compactFiltering"> = z
  .strictObject({
    enable: z
      .boolean()
      .default(false)
      .describe("Leave out rollouts by how they ended, as the options below say."),
    mask_max_prompt_length_exceeded: mask(true, "whose prompt became too long"),
    mask_max_response_length_exceeded: mask(true, "whose answer became too long"),
    mask_env_done: mask(false, "that the environment ended"),
    mask_max_turns_exceeded: mask(
      true,
      "that ran out of turns; functions have no such limit, and tell it with a TerminationEvent",
    ),
    mask_timeout: mask(true, "that ran out of time"),
    mask_unknown: mask(false, "that ended in no known way"),
    mask_error: mask(true, "that failed by what the agent did; other failures are always left out"),
  })
  .prefault({});
