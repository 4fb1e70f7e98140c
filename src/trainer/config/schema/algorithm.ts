/** Options of what is learnt from a step's rollouts: advantages, loss, regularisers. */
import { z } from "zod";
import { defaultLoss, klEstimators, lossAggregations, lossNames } from "../../../core/loss.ts";
import { estimatorNames } from "../../../algorithms/catalog.ts";
import { estimatorMap } from "../estimator-map.ts";
import { rolloutCorrection } from "./rollout-correction.ts";
import { share } from "./kinds.ts";
import type { Section } from "./section.ts";

export const algorithmOptions: Section<"algorithm"> = z
  .strictObject({
    adv_estimator: z
      .enum(estimatorNames)
      .default("grpo")
      .describe("How rewards of a group become advantages."),
    norm_adv_by_std_in_grpo: z
      .boolean()
      .default(true)
      .describe("GRPO divides by the group's standard deviation; false is Dr. GRPO."),
    estimator_map: estimatorMap(),
    loss_fn: z.enum(lossNames).default(defaultLoss.name).describe("The policy loss."),
    loss_agg_mode: z
      .enum(lossAggregations)
      .default(defaultLoss.aggregation)
      .describe("How token losses become one number."),
    eps_clip: share()
      .default(defaultLoss.clipLow)
      .describe("PPO clips probability ratios below 1 - eps_clip."),
    eps_clip_high: z
      .number()
      .min(0)
      .max(10)
      .nullable()
      .default(null)
      .describe("PPO clips ratios above 1 + eps_clip_high; null uses eps_clip."),
    clip_ratio_c: z
      .number()
      .gt(1)
      .nullable()
      .default(null)
      .describe(
        "Dual clip: a token with a negative advantage A loses at most clip_ratio_c times its size; null is off. For ppo.",
      ),
    kl_beta: z
      .number()
      .min(0)
      .default(0)
      .describe("Weight of the KL penalty against the model as it was loaded; 0 is off."),
    kl_estimator: z
      .enum(klEstimators)
      .default("k3")
      .describe("How the KL penalty is estimated from sampled tokens."),
    entropy_coef: z
      .number()
      .min(0)
      .default(0)
      .describe("Weight of the bonus for the policy's entropy; 0 is off."),
    filter_uniform_groups: z
      .boolean()
      .nullable()
      .default(null)
      .describe(
        "Leave out groups whose rewards are all equal; null does so where the estimator compares within groups, as those of reinforce, reinforce_plus_plus and prpo do not.",
      ),
    rollout_correction: rolloutCorrection,
  })
  .prefault({});
