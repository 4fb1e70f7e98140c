/** Options of rollouts: how many, of which roles, and how tokens are sampled. */
import { z } from "zod";
import { defaultSampling } from "../../core/policy.ts";
import { integer, fraction, nonEmptyString, type Section, tokenCount, atOnce } from "./kinds.ts";
import { free, freeAndNeeds, needsBackend, validationData } from "./option-meta.ts";

/** What training and validation have in common; an option is created anew for each. */
const kinds = {
  temperature: () => z.number().min(0).max(10).default(defaultSampling.temperature),
  topP: () => z.number().gt(0).max(1),
  topK: () => integer(0),
  minP: fraction,
  maxTokens: () => tokenCount(1),
};

const sampling = z
  .strictObject({
    temperature: kinds
      .temperature()
      .describe(
        "Sampling temperature in training; 0 is greedy, 1 samples from the model's own distribution, as verl and TRL do by default.",
      ),
    top_p: kinds
      .topP()
      .default(defaultSampling.topP)
      .describe(
        "Top-p (nucleus) sampling in training: sample from the most likely tokens whose probabilities add up to this; 1 is off.",
      ),
    top_k: kinds
      .topK()
      .default(defaultSampling.topK)
      .describe("Top-k sampling in training: sample from the k most likely tokens; 0 is off."),
    min_p: kinds
      .minP()
      .default(defaultSampling.minP)
      .describe(
        "Min-p sampling in training: exclude tokens whose probability is below this fraction of that of the most likely token; 0 is off.",
      )
      .meta(needsBackend("minP")),
    max_tokens: kinds
      .maxTokens()
      .default(defaultSampling.maxTokens)
      .describe("Maximum tokens that one model call may sample in training."),
  })
  .prefault({});

const asInTraining = (name: string): ReturnType<typeof freeAndNeeds> => ({
  ...freeAndNeeds(validationData),
  inherits: `rollout.train.${name}`,
});

/** What is not set is taken from `rollout.train`, apart from the temperature. */
const validationSampling = z
  .strictObject({
    temperature: kinds
      .temperature()
      .describe("Sampling temperature in validation; 0 is greedy.")
      .meta(freeAndNeeds(validationData)),
    top_p: kinds
      .topP()
      .nullable()
      .default(null)
      .describe("Top-p (nucleus) sampling in validation; 1 is off, null is rollout.train.top_p.")
      .meta(asInTraining("top_p")),
    top_k: kinds
      .topK()
      .nullable()
      .default(null)
      .describe("Top-k sampling in validation; 0 is off, null is rollout.train.top_k.")
      .meta(asInTraining("top_k")),
    min_p: kinds
      .minP()
      .nullable()
      .default(null)
      .describe("Min-p sampling in validation; 0 is off, null is rollout.train.min_p.")
      .meta({ ...asInTraining("min_p"), ...needsBackend("minP") }),
    max_tokens: kinds
      .maxTokens()
      .nullable()
      .default(null)
      .describe(
        "Maximum tokens that one model call may sample in validation; null is rollout.train.max_tokens.",
      )
      .meta(asInTraining("max_tokens")),
  })
  .prefault({});

export const rolloutOptions: Section<"rollout"> = z
  .strictObject({
    n: atOnce(1)
      .default(8)
      .describe(
        "Group size: rollouts of each task in a step, which are compared with each other. TRL's default is 8; DAPO uses 16 (arXiv:2503.14476), the GRPO paper 64 (arXiv:2402.03300).",
      ),
    n_val: atOnce(1)
      .default(1)
      .describe("Rollouts of each task in a validation; val/pass@n is computed over them.")
      .meta(freeAndNeeds(validationData)),
    untrained_roles: z
      .array(nonEmptyString())
      .default([])
      .meta({ allowed: "a list of trajectory names" })
      .describe("Roles that are sampled and scored, but excluded from training."),
    side_calls: z
      .union([z.enum(["own", "train", "exclude"]), z.array(nonEmptyString()).min(1)])
      .default("own")
      .meta({
        allowed: "one of own, train, exclude, or a list of rules",
        exampleValues: ["train", "exclude", ["title", "quota"]],
      })
      .describe(
        "Which calls are kept out of training because a rule takes them for side calls: own, those of rules that the agent was given; exclude, those of any rule, also of the built-in ones of claudeCode, codex, opencode and pi (quota, title, summary, suggestion, small-model, sub-agent); a list, those of the rules in it; train, none. All other calls are trained with the reward of their rollout.",
      ),
    reward_source: z
      .enum(["evaluator", "rollout"])
      .default("evaluator")
      .describe(
        "Which reward is trained on when an evaluator scores rollouts that report rewards themselves, as workflows and environments do: evaluator takes the evaluator's, rollout takes the reported ones.",
      ),
    solved_reward: z
      .number()
      .nullable()
      .default(null)
      .describe(
        "Minimum reward of a correct rollout, where it is scored with a plain number; null counts rewards of at least 1 as correct, of at most 0 as incorrect, and leaves those in between undecided.",
      ),
    failure_reward: z
      .number()
      .default(0)
      .describe(
        "Reward of a rollout in which the agent threw or timed out; set it to the lowest reward of the evaluator.",
      )
      .meta(free),
    retry_agent_errors: z
      .boolean()
      .default(false)
      .describe(
        "Retry training rollouts in which the agent threw or timed out, and exclude those that still fail, instead of giving them rollout.failure_reward.",
      )
      .meta(free),
    train: sampling,
    val: validationSampling,
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
