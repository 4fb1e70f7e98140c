/** Options that correct for rollouts that other weights sampled. */
import { z } from "zod";
import {
  parseWeightLimit,
  type WeightMode,
} from "../../algorithms/rollout-correction/importance-weights.ts";
import { rejectionNames } from "../../algorithms/rollout-correction/rejection.ts";
import type { SnakeKeys } from "../camel-keys.ts";
import type { RolloutCorrectionOptions } from "../train-config.ts";
import { needsBackend } from "./option-meta.ts";
import { oneOf } from "./variants.ts";

const limit = () =>
  z
    .union([z.number(), z.string()])
    .refine((value) => parseWeightLimit(value) !== null)
    .meta({
      allowed: "a number above 0, or two as low_high",
      tsType: "number | string",
      exampleValues: [1],
    });

/** `{token_k1: 0.5_2}` or `["token_k1=0.5_2"]` as the latter. */
const rules = () =>
  z
    .union([
      z
        .record(z.string(), z.union([z.number(), z.string()]))
        .transform((map) => Object.entries(map).map(([name, bound]) => `${name}=${bound}`)),
      z.array(z.string()),
    ])
    .prefault([])
    .meta({
      allowed: `a map of ${rejectionNames.join(", ")} to thresholds, or a list of name=threshold`,
      tsType: "readonly string[]",
      exampleValues: [["token_k1=2"]],
      ...needsBackend("forward"),
    });

const rejection = {
  reject: rules().describe(
    "Rejection of tokens (token_...) or whole rows (seq_...) whose log-ratio of trainer to sampler, as k1, k2 or k3, is beyond a threshold: a maximum for k2 and k3; for k1 a range low_high of the sampler's probability over the trainer's, as in verl since 0.7.1, or t for 1/t to t. Empty is off.",
  ),
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
};

const weights = {
  cap: limit()
    .default(2)
    .describe(
      "Maximum importance weight; 2 is rLLM's default. A range low_high sets weights outside of it to 0 instead; that is IcePop (arXiv:2510.18855), for which verl's documentation gives 0.5_5.",
    ),
  batch_normalize: z
    .boolean()
    .default(false)
    .describe(
      "Divide the importance weights by their mean over the step, over tokens or over sequences.",
    ),
  ...rejection,
};

const types = {
  none: rejection,
  recompute: rejection,
  token: weights,
  sequence: weights,
} satisfies Record<WeightMode | "none" | "recompute", unknown>;

export const rolloutCorrection: z.ZodPrefault<z.ZodType<SnakeKeys<RolloutCorrectionOptions>>> =
  oneOf(types, "none", {
    description:
      "Correction for rollouts that other weights sampled. none: the loss's ratios are to the sampler's log-probabilities; recompute: to those of the trainer at the start of the step, which costs a forward pass; token and sequence: as recompute, and the loss is multiplied by the trainer's probability over the sampler's, per token or sequence (truncated importance sampling).",
    ...needsBackend("forward"),
  });
