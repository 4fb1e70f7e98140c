/** Options of rejection sampling: which tasks a step trains on, by whether their rewards differ. */
import { z } from "zod";
import { count } from "./kinds.ts";
import type { Section } from "./section.ts";
import { isOn, needs } from "./option-meta.ts";

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
    min_partial_solve_tasks: count(1)
      .nullable()
      .default(null)
      .describe(
        "Minimum tasks with differing rewards that rejection sampling collects before it trains; null is data.train_batch_size.",
      )
      .meta(needs(isOn("rejection_sample.enable"))),
    min_trajs_per_group: count(1)
      .default(1)
      .describe("Minimum scored rollouts of a task; rejection sampling drops tasks with fewer.")
      .meta(needs(isOn("rejection_sample.enable"))),
    max_batches: count(1)
      .default(10)
      .describe(
        "Maximum batches of rollouts that rejection sampling makes for one step; after that, the step trains on what it has.",
      )
      .meta(needs(isOn("rejection_sample.enable"))),
  })
  .prefault({});
