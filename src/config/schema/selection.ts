/** Options of which rollouts are trained on: filters, rejection sampling, replay. */
import { z } from "zod";
import { isOn, needs } from "./option-meta.ts";
import { type Section, integer, atOnce, taskCount } from "./kinds.ts";

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

export const rejectionSampleOptions: Section<"rejectionSample"> = z
  .strictObject({
    enable: z
      .boolean()
      .default(false)
      .describe(
        "Rejection sampling: drop tasks whose rewards are all equal and roll out others in their place, as DAPO's dynamic sampling does (arXiv:2503.14476).",
      ),
    multiplier: z
      .number()
      .min(1)
      .max(100)
      .default(1)
      .describe(
        "Tasks that rejection sampling rolls out at a time, as a multiple of data.train_batch_size; verl's DAPO recipe uses 3.",
      )
      .meta(needs(isOn("rejection_sample.enable"))),
    min_partial_solve_tasks: taskCount(1)
      .nullable()
      .default(null)
      .describe(
        "Minimum tasks with differing rewards that rejection sampling collects before it trains; null is data.train_batch_size.",
      )
      .meta(needs(isOn("rejection_sample.enable"))),
    min_trajs_per_group: atOnce(1)
      .default(1)
      .describe("Minimum scored rollouts of a task; rejection sampling drops tasks with fewer.")
      .meta(needs(isOn("rejection_sample.enable"))),
    max_batches: integer(1)
      .default(10)
      .describe(
        "Maximum batches of rollouts that rejection sampling makes for one step; after that, the step trains on what it has.",
      )
      .meta(needs(isOn("rejection_sample.enable"))),
  })
  .prefault({});

export const replayOptions: Section<"replay"> = z
  .strictObject({
    tasks: taskCount(0)
      .default(0)
      .describe(
        "Experience replay: tasks of earlier steps whose rollouts each step trains on again; 0 is off.",
      ),
    max_age: integer(1)
      .default(4)
      .describe("Maximum age of a replayed task, in steps since it was rolled out.")
      .meta(needs({ option: "replay.tasks", above: 0 })),
    capacity: taskCount(1)
      .default(256)
      .describe("Maximum tasks in the replay buffer; the oldest are dropped first.")
      .meta(needs({ option: "replay.tasks", above: 0 })),
  })
  .prefault({});
