/** Options of the watch over a run's metrics, which names what is wrong. */
import { z } from "zod";
import { diseaseNames } from "../../core/health.ts";
import type { Section } from "./kinds.ts";
import { free, freeAndNeeds } from "./option-meta.ts";

export const healthOptions: Section<"health"> = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe(
        "Look for problems in the metrics of every step and validation, such as rewards without variance or a collapse of entropy, and warn once of each.",
      )
      .meta(free),
    stop: z
      .array(z.enum(diseaseNames))
      .refine((names) => new Set(names).size === names.length, "names a problem twice")
      .default([])
      .describe(
        "Problems that end the run when they are found, by name; the last completed step is saved. The page docs/health.md explains each.",
      )
      .meta({
        ...freeAndNeeds({ option: "health.enabled", is: [true] }),
        allowed: `a list of ${diseaseNames.join(", ")}, each at most once`,
        exampleValues: [["no_reward_variance"]],
      }),
  })
  .prefault({});
