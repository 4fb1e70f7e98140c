/** Options of what is done about rollouts that other weights drew; names are those of rLLM and verl. */
import { z } from "zod";
import {
  parseWeightLimit,
  weightModes,
} from "../../algorithms/rollout-correction/importance-weights.ts";
import { rejectionNames } from "../../algorithms/rollout-correction/rejection.ts";
import type { RolloutCorrectionOptions } from "../train-config.ts";
import type { SnakeKeys } from "../camel-keys.ts";
import { needs } from "./option-meta.ts";

const limit = () =>
  z
    .union([z.number(), z.string()])
    .refine((value) => parseWeightLimit(value) !== null)
    .meta({ allowed: "a number above 0, or two as low_high", tsType: "number | string" });

/** A list, or text with commas, kept as text. */
const listed = () =>
  z
    .union([
      z.string().min(1),
      z.number().transform(String),
      z
        .array(z.union([z.string(), z.number()]))
        .min(1)
        .transform((list) => list.join(",")),
    ])
    .nullable()
    .prefault(null);

const keptAsText = { tsType: "string | null" };

export const rolloutCorrection: z.ZodPrefault<z.ZodType<SnakeKeys<RolloutCorrectionOptions>>> = z
  .strictObject({
    bypass_mode: z
      .boolean()
      .nullable()
      .default(null)
      .describe(
        "Ratios of the loss are taken to what sampled (true), or to the trainer's own weights at the start of the step, computed anew (false); null is false where tis_mode is set.",
      ),
    tis_mode: z
      .enum(weightModes)
      .nullable()
      .default(null)
      .describe(
        "Weigh the loss by how much likelier the trainer finds a token, or the whole row, than what sampled did; null is off.",
      ),
    tis_cap: limit()
      .default(2)
      .describe("Largest such weight; low_high sets weights outside of it to 0 instead.")
      .meta(needs({ option: "algorithm.rollout_correction.tis_mode", not: null })),
    rollout_is_batch_normalize: z
      .boolean()
      .default(false)
      .describe("Divide these weights by their mean over the step.")
      .meta(needs({ option: "algorithm.rollout_correction.tis_mode", not: null })),
    rollout_rs: listed()
      .meta({ allowed: `a list of ${rejectionNames.join(", ")}, or null`, ...keptAsText })
      .describe(
        "Leave out tokens or rows by how far the trainer and the sampler disagree about them: k1, k2 and k3 of the log-ratio; null is off.",
      ),
    rollout_rs_threshold: listed()
      .meta({ allowed: "a list of numbers above 0, or of low_high, or null", ...keptAsText })
      .describe(
        "One bound for each entry of rollout_rs; of k1 they are bounds of the sampler's probability over the trainer's, as in verl from 0.7.1 on.",
      )
      .meta(needs({ option: "algorithm.rollout_correction.rollout_rs", not: null })),
    rollout_token_veto_threshold: z
      .number()
      .gt(0)
      .lt(1)
      .nullable()
      .default(null)
      .describe("Leave out rows that hold a token with a smaller ratio; null is off."),
  })
  .prefault({});
