/** Options of what is learnt from a step's rollouts: advantages, loss, regularisers. */
import { z } from "zod";
import { defaultLoss, klEstimators, lossAggregations, lossNames } from "../../../core/loss.ts";
import { estimatorNames } from "../../../algorithms/catalog.ts";
import { roleMap } from "../role-map.ts";
import { rolloutCorrection } from "./rollout-correction.ts";
import { count, customName, share } from "./kinds.ts";
import type { Section } from "./section.ts";
import { isOn, needs } from "./option-meta.ts";

const estimatorName = z.union([z.enum(estimatorNames), customName()]);
const lossName = z.union([z.enum(lossNames), customName()]);

export const algorithmOptions: Section<"algorithm"> = z
  .strictObject({
    adv_estimator: z
      .union([z.enum([...estimatorNames, "gae"]), customName()])
      .default("grpo")
      .meta({ allowed: `one of ${estimatorNames.join(", ")}, or path#export of a function` })
      .describe("How rewards of a group become advantages."),
    norm_adv_by_std_in_grpo: z
      .boolean()
      .default(true)
      .describe("GRPO divides by the group's standard deviation; false is Dr. GRPO.")
      .meta(
        needs({ option: "algorithm.adv_estimator", is: ["grpo", "grpo_passk", "path#export"] }),
      ),
    estimator_map: roleMap(estimatorName, "estimator").describe(
      "Estimators of single roles, over adv_estimator.",
    ),
    loss_fn: lossName
      .default(defaultLoss.name)
      .meta({ allowed: `one of ${lossNames.join(", ")}, or path#export of a function` })
      .describe("The policy loss."),
    loss_fn_map: roleMap(lossName, "loss").describe("Losses of single roles, over loss_fn."),
    loss_agg_mode: z
      .enum(lossAggregations)
      .default(defaultLoss.aggregation)
      .describe("How token losses become one number."),
    eps_clip: share()
      .default(defaultLoss.clipLow)
      .describe("PPO clips probability ratios below 1 - eps_clip.")
      .meta(needs({ option: "algorithm.loss_fn", is: ["ppo", "cispo", "gspo", "gmpo"] })),
    eps_clip_high: z
      .number()
      .min(0)
      .max(10)
      .nullable()
      .default(null)
      .describe("PPO clips ratios above 1 + eps_clip_high; null uses eps_clip.")
      .meta(needs({ option: "algorithm.loss_fn", is: ["ppo", "cispo", "gspo", "gmpo"] })),
    clip_ratio_c: z
      .number()
      .gt(1)
      .nullable()
      .default(null)
      .describe(
        "Dual clip: a token with a negative advantage A loses at most clip_ratio_c times its size; null is off. For ppo.",
      )
      .meta(needs({ option: "algorithm.loss_fn", is: ["ppo"] })),
    kl_beta: z
      .number()
      .min(0)
      .default(0)
      .describe("Weight of the KL penalty against the model as it was loaded; 0 is off."),
    kl_estimator: z
      .enum(klEstimators)
      .default("k3")
      .describe("How the KL penalty is estimated from sampled tokens.")
      .meta(needs({ option: "algorithm.kl_beta", above: 0 })),
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
    use_precomputed_advantage: z
      .boolean()
      .default(false)
      .describe(
        "Use the advantages that flows report with their steps; groups without any are estimated.",
      ),
    use_kl_in_reward: z
      .boolean()
      .default(false)
      .describe("Take the distance to the model as it was loaded off each reward."),
    kl_penalty: z
      .enum(klEstimators)
      .default("k1")
      .describe("How use_kl_in_reward estimates the distance.")
      .meta(needs(isOn("algorithm.use_kl_in_reward"))),
    kl_ctrl: z
      .strictObject({
        kl_coef: z
          .number()
          .min(0)
          .default(0.001)
          .describe("Weight of use_kl_in_reward.")
          .meta(needs(isOn("algorithm.use_kl_in_reward"))),
      })
      .prefault({}),
    overlong_buffer: z
      .strictObject({
        enable: z
          .boolean()
          .default(false)
          .describe("Take something off the reward of answers that come near their limit (DAPO)."),
        len: count(1)
          .default(128)
          .describe("Tokens before the limit from which on it grows.")
          .meta(needs(isOn("algorithm.overlong_buffer.enable"))),
        penalty_factor: z
          .number()
          .min(0)
          .default(1)
          .describe("What it is at the limit.")
          .meta(needs(isOn("algorithm.overlong_buffer.enable"))),
        max_length: count(1)
          .nullable()
          .default(null)
          .describe("The limit in tokens of one answer; null is rollout.train.max_tokens.")
          .meta(needs(isOn("algorithm.overlong_buffer.enable"))),
      })
      .prefault({}),
    mask_truncated_samples: z
      .boolean()
      .default(false)
      .describe(
        "Do not train trajectories with an answer that was cut; they still count as members of their group.",
      ),
    rollout_correction: rolloutCorrection,
  })
  .prefault({});
