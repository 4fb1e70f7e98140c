/** Options that correct for rollouts that other weights sampled; names are those of rLLM and verl. */
import { z } from "zod";
import {
  parseWeightLimit,
  weightModes,
} from "../../algorithms/rollout-correction/importance-weights.ts";
import { rejectionNames } from "../../algorithms/rollout-correction/rejection.ts";
import type { RolloutCorrectionOptions } from "../train-config.ts";
import type { SnakeKeys } from "../camel-keys.ts";
import { needs, needsBackend } from "./option-meta.ts";

const limit = () =>
  z
    .union([z.number(), z.string()])
    .refine((value) => parseWeightLimit(value) !== null)
    .meta({
      allowed: "a number above 0, or two as low_high",
      tsType: "number | string",
      exampleValues: [1],
    });

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
        "Denominator of the loss's probability ratios: true uses the sampler's log-probabilities, false recomputes them with the trainer's weights at the start of the step, which costs a forward pass. null is false where algorithm.rollout_correction.tis_mode is set, else true.",
      )
      .meta(needsBackend("forward", [false])),
    tis_mode: z
      .enum(weightModes)
      .nullable()
      .default(null)
      .describe(
        "Truncated importance sampling (TIS): multiply the loss by the trainer's probability over the sampler's, per token or per sequence, limited by algorithm.rollout_correction.tis_cap; null is off.",
      )
      .meta(needsBackend("forward")),
    tis_cap: limit()
      .default(2)
      .describe(
        "Maximum importance weight of algorithm.rollout_correction.tis_mode; 2 is rLLM's default. A range low_high sets weights outside of it to 0 instead; that is IcePop (arXiv:2510.18855), for which verl's documentation gives 0.5_5.",
      )
      .meta(needs({ option: "algorithm.rollout_correction.tis_mode", not: null })),
    rollout_is_batch_normalize: z
      .boolean()
      .default(false)
      .describe(
        "Divide the importance weights of algorithm.rollout_correction.tis_mode by their mean over the step, over tokens or over sequences.",
      )
      .meta(needs({ option: "algorithm.rollout_correction.tis_mode", not: null })),
    rollout_rs: listed()
      .meta({ allowed: `a list of ${rejectionNames.join(", ")}, or null`, ...keptAsText })
      .describe(
        "Rejection of tokens (token_...) or whole rows (seq_...) whose log-ratio of trainer to sampler, as k1, k2 or k3, is outside of algorithm.rollout_correction.rollout_rs_threshold; null is off.",
      )
      .meta({
        ...needsBackend("forward"),
        setWith: "algorithm.rollout_correction.rollout_rs_threshold",
        exampleValues: ["token_k1"],
      }),
    rollout_rs_threshold: listed()
      .meta({ allowed: "a list of numbers above 0, or of low_high, or null", ...keptAsText })
      .describe(
        "Thresholds of algorithm.rollout_correction.rollout_rs, one for each entry: a maximum for k2 and k3; for k1 a range low_high of the sampler's probability over the trainer's, as in verl since 0.7.1, or one number t for the range 1/t to t. null only where algorithm.rollout_correction.rollout_rs is null.",
      )
      .meta(needs({ option: "algorithm.rollout_correction.rollout_rs", not: null }))
      .meta({ setWith: "algorithm.rollout_correction.rollout_rs", exampleValues: ["2"] }),
    rollout_token_veto_threshold: z
      .number()
      .gt(0)
      .lt(1)
      .nullable()
      .default(null)
      .describe(
        "Drop rows with any token whose probability ratio of trainer to sampler is below this; null is off.",
      )
      .meta(needsBackend("forward")),
  })
  .prefault({});
