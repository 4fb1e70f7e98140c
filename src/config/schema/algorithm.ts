/** Options of what is learnt from a step's rollouts: advantages, loss, regularisers. */
import { z } from "zod";
import { defaultLoss, klEstimators, lossAggregations, lossNames } from "../../core/loss.ts";
import { estimatorNames } from "../../algorithms/catalog.ts";
import { logprobTemperatures } from "../../algorithms/step-logprobs.ts";
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
    loss_scale_factor: z
      .number()
      .gt(0)
      .nullable()
      .default(null)
      .describe(
        "The constant length that loss_agg_mode=seq-mean-token-sum-norm divides by, as Dr. GRPO does with the longest response allowed; null is the longest trained stretch of each mini-batch, where verl takes the padded width.",
      )
      .meta(needs({ option: "algorithm.loss_agg_mode", is: ["seq-mean-token-sum-norm"] })),
    eps_clip: share()
      .nullable()
      .default(null)
      .describe(
        "Losses with a clip limit probability ratios below 1 - eps_clip; null is the loss's own default: 0.2, and 3e-4 for gspo.",
      )
      .meta(needs({ option: "algorithm.loss_fn", is: ["ppo", "cispo", "gspo", "gmpo"] })),
    eps_clip_high: z
      .number()
      .min(0)
      .max(10)
      .nullable()
      .default(null)
      .describe(
        "Losses with a clip limit probability ratios above 1 + eps_clip_high; null uses eps_clip, and where that is null the loss's own default: 0.2, and 4e-4 for gspo.",
      )
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
    dro_beta: z
      .number()
      .gt(0)
      .default(0.05)
      .describe("Strength of the quadratic penalty in the loss dro.")
      .meta(needs({ option: "algorithm.loss_fn", is: ["dro"] })),
    sapo_tau_pos: z
      .number()
      .gt(0)
      .default(1)
      .describe("Temperature of the gate in the loss sapo for tokens with a positive advantage.")
      .meta(needs({ option: "algorithm.loss_fn", is: ["sapo"] })),
    sapo_tau_neg: z
      .number()
      .gt(0)
      .default(1.05)
      .describe("Temperature of the gate in the loss sapo for tokens with a negative advantage.")
      .meta(needs({ option: "algorithm.loss_fn", is: ["sapo"] })),
    logprob_temperature: z
      .enum(logprobTemperatures)
      .default("sampling")
      .describe(
        "Which policy is trained when rollout.train.temperature is not 1: sampling is the one that samples, softmax(logits / temperature), as verl and TRL do; one is the policy at temperature 1, whose log-probabilities are not those of what was sampled.",
      ),
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
        "Do not train on groups whose rewards are all equal; they still count in what an estimator takes from all groups. Null does so where the estimator compares within groups, as those of reinforce, reinforce_plus_plus and prpo do not.",
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
