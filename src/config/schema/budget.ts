/** Options that limit what a run may spend, and what its tokens cost. */
import { z } from "zod";
import { integer, type Section } from "./kinds.ts";
import { free, freeAndNeeds } from "./option-meta.ts";

const price = (what: string, listed = "model") =>
  z
    .number()
    .min(0)
    .nullable()
    .default(null)
    .describe(`Price of ${what}; null is the built-in table's, where it lists the ${listed}.`)
    .meta(free);

export const budgetOptions: Section<"budget"> = z
  .strictObject({
    tokens: integer(1, Number.MAX_SAFE_INTEGER)
      .nullable()
      .default(null)
      .describe(
        "Maximum tokens of the run: prompts, sampled tokens and trained sequences, validations included. The run saves a checkpoint and ends before a step that would exceed it; null is no limit.",
      )
      .meta(free),
    usd: z
      .number()
      .gt(0)
      .nullable()
      .default(null)
      .describe(
        "Maximum cost of the run in US dollars, by the prices of budget.prices; refused where prices are unknown. null is no limit.",
      )
      .meta(free),
    minutes: z
      .number()
      .gt(0)
      .max(5_256_000)
      .nullable()
      .default(null)
      .describe(
        "Maximum minutes on the clock, over all processes of the run, validations included. The run saves a checkpoint and ends before a step that would exceed it; null is no limit.",
      )
      .meta(free),
    prices: z
      .strictObject({
        prompt: price("a million prompt tokens in US dollars"),
        sampled: price("a million sampled tokens in US dollars"),
        trained: price("a million trained tokens in US dollars"),
        gpu_hour: price("one GPU-hour of dedicated hardware in US dollars", "accelerator").meta(
          freeAndNeeds({ option: "fireworks.training_shape", not: null }),
        ),
      })
      .prefault({}),
  })
  .prefault({});
