/** Options of rollouts: how many, of what roles, and how tokens are drawn. */
import { z } from "zod";
import { defaultSampling } from "../../../core/policy.ts";
import { count, share, words } from "./kinds.ts";
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

export const rolloutOptions: Section<"rollout"> = z
  .strictObject({
    n: count(1)
      .default(8)
      .describe("Rollouts of each task in a step; they are compared with each other."),
    n_val: count(1).default(1).describe("Rollouts of each task in a validation."),
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
      ),
    retry_agent_errors: z
      .boolean()
      .default(false)
      .describe(
        "In training, sample anew after what the agent threw or did too late, and leave out what still fails, instead of scoring it with failure_reward.",
      ),
    train: sampling(),
    val: sampling(),
  })
  .prefault({});
