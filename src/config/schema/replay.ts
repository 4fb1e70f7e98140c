/** Options of experience replay: training again on rollouts of earlier steps. */
import { z } from "zod";
import { count } from "./kinds.ts";
import type { Section } from "./section.ts";
import { needs } from "./option-meta.ts";

export const replayOptions: Section<"replay"> = z
  .strictObject({
    tasks: count(0)
      .default(0)
      .describe(
        "Experience replay: tasks of earlier steps whose rollouts each step trains on again; 0 is off.",
      ),
    max_age: count(1)
      .default(4)
      .describe("Maximum age of a replayed task, in steps since it was rolled out.")
      .meta(needs({ option: "replay.tasks", above: 0 })),
    capacity: count(1)
      .default(256)
      .describe("Maximum tasks in the replay buffer; the oldest are dropped first.")
      .meta(needs({ option: "replay.tasks", above: 0 })),
  })
  .prefault({});
