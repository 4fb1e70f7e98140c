/** Options of what happens when an update's numbers look wrong. */
import { z } from "zod";
import { count } from "./kinds.ts";
import type { Section } from "./section.ts";
import { free, freeAndNeeds } from "./option-meta.ts";

const limit = (text: string) => z.number().gt(0).nullable().default(null).describe(text);

export const guardOptions: Section<"guards"> = z
  .strictObject({
    on_non_finite: z
      .enum(["raise", "skip"])
      .default("raise")
      .describe("A loss or gradient that is not finite ends the run, or skips that update.")
      .meta(free),
    max_skipped_updates: count(1)
      .default(3)
      .describe("Updates in a row that on_non_finite=skip may skip; one more ends the run.")
      .meta(freeAndNeeds({ option: "guards.on_non_finite", is: ["skip"] })),
    grad_norm: limit(
      "Trips when the gradient's norm before clipping is above it; null is off.",
    ).meta(free),
    kl: limit(
      "Trips when the estimated KL from the sampling weights (train/kl_k3) is above it; null is off.",
    ).meta(free),
    ratio: z
      .number()
      .gt(1)
      .nullable()
      .default(null)
      .describe(
        "Trips when the mean ratio to the sampling weights is above it, or below its inverse; null is off.",
      )
      .meta(free),
    action: z
      .enum(["warn", "end_step", "stop"])
      .default("stop")
      .describe(
        "What a tripped guard does: a warning, no further updates in this step, or the end of the run.",
      )
      .meta(
        freeAndNeeds({
          anyOf: [
            { option: "guards.grad_norm", not: null },
            { option: "guards.kl", not: null },
            { option: "guards.ratio", not: null },
          ],
        }),
      ),
  })
  .prefault({});
