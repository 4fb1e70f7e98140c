/** Options of what is learned from a step's rollouts: advantages, loss, regularizers. */
import { z } from "zod";
import {
  defaultLoss,
  klEstimators,
  type LossAggregation,
  type LossName,
  lossNames,
} from "../../core/loss/loss.ts";
import { estimatorNames } from "../../algorithms/catalog.ts";
import { logprobTemperatures } from "../../algorithms/rows/trainable-step.ts";
import type { TerminationReason } from "../../core/trajectory.ts";
import { weightMap, roleMap } from "../role-map.ts";
import { rolloutCorrection } from "./rollout-correction.ts";
import { estimators, gae } from "./estimators.ts";
import { fraction, type Section, tokenCount } from "./kinds.ts";
import { customFunction, isOn, needs, needsBackend, under } from "./option-meta.ts";
import { oneOf, variants } from "./variants.ts";

const clip = {
  eps_clip: fraction()
    .nullable()
    .default(null)
    .describe(
      "Lower clip range: probability ratios are clipped below 1 - eps_clip (in gmpo below exp(-eps_clip)); null is the default of the loss: 0.2 as in PPO (arXiv:1707.06347), 3e-4 in gspo (arXiv:2507.18071). For gmpo its paper recommends 0.4 (arXiv:2507.20673).",
    ),
  eps_clip_high: z
    .number()
    .min(0)
    .max(10)
    .nullable()
    .default(null)
    .describe(
      "Upper clip range: probability ratios are clipped above 1 + eps_clip_high (in gmpo above exp(eps_clip_high)); DAPO recommends 0.28 for ppo (arXiv:2503.14476). null uses eps_clip, and where that is null too, the default of the loss: 0.2, or 4e-4 in gspo (arXiv:2507.18071).",
    ),
};

const losses = {
  importance_sampling: {},
  ppo: {
    ...clip,
    clip_ratio_c: z
      .number()
      .gt(1)
      .nullable()
      .default(null)
      .describe(
        "Dual-clip PPO: the loss of a token with a negative advantage A is at most clip_ratio_c · |A| (arXiv:1912.09729); verl's default is 3. null is off.",
      )
      .meta(needsBackend("dualClip")),
  },
  cispo: clip,
  gspo: clip,
  gmpo: clip,
  sapo: {
    tau_pos: z
      .number()
      .gt(0)
      .default(1)
      .describe(
        "Temperature of the sigmoid gate for tokens with a positive advantage; SAPO's paper recommends 1 (arXiv:2511.20347).",
      ),
    tau_neg: z
      .number()
      .gt(0)
      .default(1.05)
      .describe(
        "Temperature of the sigmoid gate for tokens whose advantage is not positive; SAPO's paper recommends 1.05 (arXiv:2511.20347).",
      ),
  },
  dro: {
    beta: z
      .number()
      .gt(0)
      .default(0.05)
      .describe(
        "Coefficient β of DRO, the weight of its quadratic penalty: (β / 2) · (log-ratio)² per token (arXiv:2405.19107).",
      ),
  },
  cross_entropy: {},
  [customFunction]: {},
} satisfies Record<LossName | typeof customFunction, unknown>;

const aggregations = {
  "token-mean": {},
  "token-sum": {},
  "seq-mean-token-sum": {},
  "seq-mean-token-mean": {},
  "seq-mean-token-sum-norm": {
    length: z
      .number()
      .gt(0)
      .nullable()
      .default(null)
      .describe(
        "Constant length in tokens to divide by; Dr. GRPO recommends the longest response allowed (arXiv:2503.20783). null uses the longest trained span of each mini-batch, where verl uses the padded width.",
      ),
  },
} satisfies Record<LossAggregation, unknown>;

const excludableReasons = [
  "max_prompt_length_exceeded",
  "max_response_length_exceeded",
  "env_done",
  "max_turns_exceeded",
  "timeout",
  "unknown",
  "error",
] as const satisfies readonly TerminationReason[];

export const algorithmOptions: Section<"algorithm"> = z
  .strictObject({
    estimator: oneOf({ ...estimators, gae }, "grpo", {
      description:
        "How rewards become advantages, such as grpo (arXiv:2402.03300) or rloo (arXiv:2402.14740), which compare the rollouts of a group, or gae (arXiv:1506.02438), which compares with the values of a critic.",
      allowed: `one of ${estimatorNames.join(", ")}, gae, or path#export of a function`,
      byRole: "algorithm.estimator_by_role",
      ...needsBackend("valueModel", ["gae"]),
    }),
    estimator_by_role: roleMap(variants(estimators, "grpo"), "estimator").describe(
      "Advantage estimators for single roles, which override algorithm.estimator, as {role: estimator}; an estimator is a name, or a map with type and its options. gae is for algorithm.estimator alone.",
    ),
    loss: oneOf(losses, defaultLoss.name, {
      description:
        "Policy loss: ppo (clipped ratios), cispo, gspo, gmpo, sapo, dro, importance_sampling (no clip) or cross_entropy (ignores rewards); the formulas are in docs/algorithms.md.",
      allowed: `one of ${lossNames.join(", ")}, or path#export of a function`,
      byRole: "algorithm.loss_by_role",
      ...needsBackend("loss", "all"),
    }),
    loss_by_role: roleMap(variants(losses, defaultLoss.name), "loss")
      .describe(
        "Policy losses for single roles, which override algorithm.loss, as {role: loss}; a loss is a name, or a map with type and its options.",
      )
      .meta(needsBackend("lossPerRole")),
    aggregation: oneOf(aggregations, defaultLoss.aggregation, {
      description:
        "How token losses are aggregated into one number: token-mean as DAPO recommends (arXiv:2503.14476), seq-mean-token-mean as in GRPO (arXiv:2402.03300), seq-mean-token-sum-norm as in Dr. GRPO (arXiv:2503.20783).",
      ...needsBackend("aggregation", "all"),
    }),
    logprob_temperature: z
      .enum(logprobTemperatures)
      .default("sampling")
      .describe(
        "Which policy is trained when rollout.train.temperature is not 1: sampling, the one that samples, softmax(logits / temperature), as in verl and TRL; one, that at temperature 1, although another one sampled.",
      ),
    kl_beta: z
      .number()
      .min(0)
      .default(0)
      .describe(
        "Coefficient of the KL penalty to the reference model in the loss; 0 is off, as in DAPO (arXiv:2503.14476). The GRPO paper uses 0.04 (arXiv:2402.03300), DeepSeek-R1 0.001 (arXiv:2501.12948).",
      )
      .meta(needsBackend("klEstimator")),
    kl_estimator: z
      .enum(klEstimators)
      .default("k3")
      .describe(
        "Estimator of the KL penalty in the loss (algorithm.kl_beta), per sampled token: k1, k2 or k3, verl's low_var_kl and the one of GRPO (arXiv:2402.03300). k1 hardly constrains the policy: its gradient is 0 on average.",
      )
      .meta(needs({ option: "algorithm.kl_beta", above: 0 })),
    entropy_coef: z
      .number()
      .min(0)
      .default(0)
      .describe(
        "Coefficient of the entropy bonus in the loss, which rewards a high entropy of the policy, in nats per trained token; 0 is off.",
      )
      .meta(needsBackend("entropyBonus")),
    observation_loss: weightMap({
      what: "message roles",
      names: ["tool", "user", "system"],
      min: 0,
      example: "tool=0.05",
    })
      .describe(
        "Weights of the cross-entropy of what the environment answers, by role of the message, as in {tool: 0.05} (ECHO, arXiv:2605.24517, which recommends 0.01 to 0.05); added to the policy loss as a mean over the contents of messages that follow a response. Empty is off.",
      )
      .meta(needsBackend("observations")),
    filter_uniform_groups: z
      .boolean()
      .nullable()
      .default(null)
      .describe(
        "Exclude groups whose advantages are all 0, as with equal rewards, from training, as DAPO does (arXiv:2503.14476), after the estimator has seen them. null excludes them unless a role uses reinforce, reinforce_plus_plus, prpo or gae, which do not compare within groups.",
      ),
    use_precomputed_advantage: z
      .boolean()
      .default(false)
      .describe(
        "Use the advantages that flows report with their steps; groups without any are estimated with algorithm.estimator. false ignores reported advantages.",
      ),
    use_kl_in_reward: z
      .boolean()
      .default(false)
      .describe(
        "Subtract the KL divergence to the reference model, summed over the sampled tokens and multiplied by algorithm.kl_ctrl.kl_coef, from each reward (arXiv:1909.08593).",
      )
      .meta(needsBackend("referenceForward")),
    kl_penalty: z
      .enum(klEstimators)
      .default("k1")
      .describe(
        "Estimator of the KL divergence that algorithm.use_kl_in_reward subtracts, per sampled token: k1 (log-ratio, the usual one), k2 or k3.",
      )
      .meta(needs(isOn("algorithm.use_kl_in_reward"))),
    kl_ctrl: z
      .strictObject({
        kl_coef: z
          .number()
          .min(0)
          .default(0.001)
          .describe(
            "Coefficient of the KL divergence that algorithm.use_kl_in_reward subtracts; verl's default is 0.001.",
          )
          .meta(needs(isOn("algorithm.use_kl_in_reward"))),
      })
      .prefault({}),
    overlong_buffer: z
      .strictObject({
        enable: z
          .boolean()
          .default(false)
          .describe(
            "Penalize responses close to the length limit: the soft overlong penalty of DAPO (arXiv:2503.14476).",
          ),
        ...under(
          {
            len: tokenCount(1)
              .default(128)
              .describe(
                "Length of the overlong penalty's linear ramp before algorithm.overlong_buffer.max_length, in tokens; DAPO uses 4096 of 20480 (arXiv:2503.14476).",
              ),
            penalty_factor: z
              .number()
              .min(0)
              .default(1)
              .describe(
                "Overlong penalty at algorithm.overlong_buffer.max_length, subtracted from the reward; DAPO uses 1 (arXiv:2503.14476).",
              ),
            max_length: tokenCount(1)
              .nullable()
              .default(null)
              .describe(
                "Length limit of one response for the overlong penalty, in tokens; null is rollout.train.max_tokens.",
              ),
          },
          isOn("algorithm.overlong_buffer.enable"),
        ),
      })
      .prefault({}),
    mask_truncated_samples: z
      .boolean()
      .default(false)
      .describe(
        "Exclude rows with a truncated response from training, as DAPO's overlong filtering does (arXiv:2503.14476): a whole trajectory, or only the summary or sub-agent that was cut off. Their trajectories still count in their group's baseline.",
      ),
    excluded_reasons: z
      .array(z.enum(excludableReasons))
      .default([])
      .describe(
        "Termination reasons whose rollouts are excluded from training and from the baseline of their group; rLLM's compact filtering excludes all but env_done and unknown. A function reports max_turns_exceeded with a TerminationEvent. Failures other than error, which is the agent's, are always excluded.",
      )
      .meta({
        allowed: `a list of ${excludableReasons.join(", ")}`,
        exampleValues: [["error"]],
      }),
    rollout_correction: rolloutCorrection,
  })
  .prefault({});
