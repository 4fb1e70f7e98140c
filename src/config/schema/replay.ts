/** Options of training once more on what earlier steps rolled out. */
import { z } from "zod";
import { count } from "./kinds.ts";
import type { Section } from "./section.ts";
import { needs } from "./option-meta.ts";

export const replayOptions: Section<"replay"> = z
  .strictObject({
    tasks: count(0)
      .default(0)
      .describe("Tasks of earlier steps that each step trains on again; 0 is off."),
    max_age: count(1)
      .default(4)
      .describe("Steps after which a task is not used again.")
      .meta(needs({ option: "replay.tasks", above: 0 })),
    capacity: count(1)
      .default(256)
      .describe("Tasks kept for it; the oldest are dropped first.")
      .meta(needs({ option: "replay.tasks", above: 0 })),
  })
  .prefault({});
