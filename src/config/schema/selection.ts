/** Options of which tasks are trained on: rejection sampling, replay. */
import { z } from "zod";
import { isOn, under } from "./option-meta.ts";
import { type Section, integer, atOnce, taskCount } from "./kinds.ts";

export const rejectionSampleOptions: Section<"rejectionSample"> = z
  .strictObject({
    enable: z
      .boolean()
      .default(false)
      .describe(
        "Rejection sampling: drop tasks whose rollouts teach nothing, as with equal rewards, and roll out others in their place, as DAPO's dynamic sampling does (arXiv:2503.14476).",
      ),
    ...under(
      {
        multiplier: z
          .number()
          .min(1)
          .max(100)
          .default(1)
          .describe(
            "Tasks that rejection sampling rolls out at a time, as a multiple of data.train_batch_size; verl's DAPO recipe uses 3.",
          ),
        min_partial_solve_tasks: taskCount(1)
          .nullable()
          .default(null)
          .describe(
            "Minimum tasks with differing rewards that rejection sampling collects before it trains; null is data.train_batch_size.",
          ),
        min_trajs_per_group: atOnce(1)
          .default(1)
          .describe(
            "Minimum scored rollouts of a task; rejection sampling drops tasks with fewer.",
          ),
        max_batches: integer(1)
          .default(10)
          .describe(
            "Maximum batches of rollouts that rejection sampling makes for one step; after that, the step trains on what it has.",
          ),
      },
      isOn("rejection_sample.enable"),
    ),
  })
  .prefault({});

export const replayOptions: Section<"replay"> = z
  .strictObject({
    tasks: taskCount(0)
      .default(0)
      .describe(
        "Experience replay: tasks of earlier steps whose rollouts each step trains on again; 0 is off.",
      ),
    ...under(
      {
        max_age: integer(1)
          .default(4)
          .describe("Maximum age of a replayed task, in steps since it was rolled out."),
        capacity: taskCount(1)
          .default(256)
          .describe("Maximum tasks in the replay buffer; the oldest are dropped first."),
      },
      { option: "replay.tasks", above: 0 },
    ),
  })
  .prefault({});
