/** Options of choosing which tasks a step trains on, by whether their rewards differ. */
import { z } from "zod";
import { count } from "./kinds.ts";
import type { Section } from "./section.ts";
import { isOn, needs } from "./option-meta.ts";

export const rejectionSampleOptions: Section<"rejectionSample"> = z
  .strictObject({
    enable: z
      .boolean()
      .default(false)
      .describe("Leave out tasks whose rewards are all equal, and roll out more."),
    multiplier: z
      .number()
      .min(1)
      .max(100)
      .default(1)
      .describe("Tasks rolled out at a time, as a multiple of data.train_batch_size.")
      .meta(needs(isOn("rejection_sample.enable"))),
    min_partial_solve_tasks: count(1)
      .nullable()
      .default(null)
      .describe(
        "A step waits until so many tasks with differing rewards have come together; null is data.train_batch_size.",
      )
      .meta(needs(isOn("rejection_sample.enable"))),
    min_trajs_per_group: count(1)
      .default(1)
      .describe("Tasks with fewer scored rollouts are left out.")
      .meta(needs(isOn("rejection_sample.enable"))),
    max_batches: count(1)
      .default(10)
      .describe("Most batches of rollouts for one step; then it trains on what there is.")
      .meta(needs(isOn("rejection_sample.enable"))),
  })
  .prefault({});
