/** Options of rollouts: how many, of what roles, and how tokens are drawn. */
import { z } from "zod";
import { defaultSampling } from "../../core/policy.ts";
import { count, share, words } from "./kinds.ts";
import { free, freeAndNeeds, validationData } from "./option-meta.ts";
import type { Section } from "./section.ts";

const sampling = () =>
  z
    .strictObject({
      temperature: z
        .number()
        .min(0)
        .max(10)
        .default(defaultSampling.temperature)
        .describe("Sampling temperature; 0 is greedy."),
      top_p: z
        .number()
        .gt(0)
        .max(1)
        .default(defaultSampling.topP)
        .describe("Nucleus mass; 1 is off."),
      top_k: count(0)
        .default(defaultSampling.topK)
        .describe("Keep the k likeliest tokens; 0 is off."),
      min_p: share()
        .default(defaultSampling.minP)
        .describe("Keep tokens at least this likely relative to the likeliest; 0 is off."),
      max_tokens: count(1)
        .default(defaultSampling.maxTokens)
        .describe("Most tokens that one model call may draw."),
    })
    .prefault({});

/** What is not set is taken from `rollout.train`, apart from the temperature. */
const validationSampling = () =>
  z
    .strictObject({
      temperature: z
        .number()
        .min(0)
        .max(10)
        .default(defaultSampling.temperature)
        .describe("Sampling temperature of validations; 0 is greedy.")
        .meta(freeAndNeeds(validationData)),
      top_p: z
        .number()
        .gt(0)
        .max(1)
        .nullable()
        .default(null)
        .describe("Nucleus mass of validations; 1 is off, null is rollout.train.top_p.")
        .meta(asInTraining("top_p")),
      top_k: count(0)
        .nullable()
        .default(null)
        .describe("Top-k of validations; 0 is off, null is rollout.train.top_k.")
        .meta(asInTraining("top_k")),
      min_p: share()
        .nullable()
        .default(null)
        .describe("Min-p of validations; 0 is off, null is rollout.train.min_p.")
        .meta(asInTraining("min_p")),
      max_tokens: count(1)
        .nullable()
        .default(null)
        .describe(
          "Most tokens that one model call of a validation may sample; null is rollout.train.max_tokens.",
        )
        .meta(asInTraining("max_tokens")),
    })
    .prefault({});

function asInTraining(name: string): ReturnType<typeof freeAndNeeds> {
  return { ...freeAndNeeds(validationData), inherits: `rollout.train.${name}` };
}

export const rolloutOptions: Section<"rollout"> = z
  .strictObject({
    n: count(1)
      .default(8)
      .describe("Rollouts of each task in a step; they are compared with each other."),
    n_val: count(1)
      .default(1)
      .describe("Rollouts of each task in a validation.")
      .meta(freeAndNeeds(validationData)),
    untrained_roles: z
      .array(words())
      .default([])
      .meta({ allowed: "a list of trajectory names" })
      .describe("Roles that are sampled and scored, but not trained."),
    reward_source: z
      .enum(["evaluator", "rollout"])
      .default("evaluator")
      .describe(
        "Which reward trains where an evaluator scores rollouts that give rewards themselves, as workflows and environments do.",
      ),
    solved_reward: z
      .number()
      .nullable()
      .default(null)
      .describe(
        "A rollout that is scored with a plain number is right from this reward on; null takes at least 1 as right, at most 0 as wrong, and says nothing of what lies between.",
      ),
    failure_reward: z
      .number()
      .default(0)
      .describe(
        "Reward of a rollout in which the agent threw or ran out of time; set it to the evaluator's lowest.",
      )
      .meta(free),
    retry_agent_errors: z
      .boolean()
      .default(false)
      .describe(
        "In training, sample anew after what the agent threw or did too late, and leave out what still fails, instead of scoring it with failure_reward.",
      )
      .meta(free),
    train: sampling(),
    val: validationSampling(),
  })
  .transform(({ val, ...rest }) => ({
    ...rest,
    val: {
      temperature: val.temperature,
      top_p: val.top_p ?? rest.train.top_p,
      top_k: val.top_k ?? rest.train.top_k,
      min_p: val.min_p ?? rest.train.min_p,
      max_tokens: val.max_tokens ?? rest.train.max_tokens,
    },
  }))
  .prefault({});
