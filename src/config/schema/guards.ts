/** Options of what happens when the statistics of an update exceed a limit. */
import { z } from "zod";
import { integer, type Section } from "./kinds.ts";
import { free, freeAndNeeds, needsBackend } from "./option-meta.ts";
import { oneOf } from "./variants.ts";

const limit = (text: string) => z.number().gt(0).nullable().default(null).describe(text);

const skip = {
  max_updates: integer(1)
    .default(3)
    .describe("Maximum consecutive updates that may be skipped; one more ends the run."),
};

export const guardOptions: Section<"guards"> = z
  .strictObject({
    on_non_finite: oneOf({ raise: {}, skip }, "raise", {
      description:
        "What a loss or gradient that is not finite does: raise ends the run, skip skips that update.",
      ...free,
    }),
    grad_norm: limit(
      "Limit of the gradient norm before clipping (train/grad_norm); above it, guards.action applies. null is off.",
    ).meta({ ...free, ...needsBackend("grad_norm") }),
    kl: limit(
      "Limit of the estimated KL divergence from the weights that sampled (train/kl_k3), in nats per token; above it, guards.action applies. null is off.",
    ).meta({ ...free, ...needsBackend("kl_k3") }),
    ratio: z
      .number()
      .gt(1)
      .nullable()
      .default(null)
      .describe(
        "Limit of the mean probability ratio to the weights that sampled (train/ratio_mean); above it or below its inverse, guards.action applies. null is off.",
      )
      .meta({ ...free, ...needsBackend("ratio_mean") }),
    action: z
      .enum(["warn", "end_step", "stop"])
      .default("stop")
      .describe(
        "What happens when guards.grad_norm, guards.kl or guards.ratio is exceeded: warn only warns, end_step makes no further updates in the step, stop ends the run.",
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
