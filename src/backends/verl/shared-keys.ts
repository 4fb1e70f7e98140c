/**
 * Options that agent-trainer and verl both have. Ours take precedence; a verl key with a conflicting
 * value is refused, with the name of our option. Pure.
 */
import { ConfigError } from "../../core/errors.ts";
import { criticDefaults, criticKeys, replacedOfCritic } from "./critic-keys.ts";
import { never, type SharedKey } from "./shared-key.ts";
import type { VerlBackendOptions } from "./verl-options.ts";

const actor = "actor_rollout_ref.actor";
const rollout = "actor_rollout_ref.rollout";

/** Defaults for servers that share no GPU with training. */
const apart = [
  `${rollout}.checkpoint_engine.backend=nccl`,
  `${rollout}.gpu_memory_utilization=0.85`,
] as const;

/** Every shared key of a run without a critic. */
export const sharedKeys: readonly SharedKey[] = [
  { ours: "data.train_batch_size", theirs: "data.train_batch_size", value: (run) => run.batchSize },
  {
    ours: "data.train_batch_size",
    theirs: `${actor}.ppo_mini_batch_size`,
    value: (run) => run.batchSize,
  },
  { ours: "rollout.n", theirs: `${rollout}.n`, value: (run) => run.groupSize },
  {
    ours: "rollout.train.temperature",
    theirs: `${rollout}.temperature`,
    value: (run) => run.temperature,
  },
  {
    ours: "algorithm.logprob_temperature",
    theirs: `${rollout}.logprobs_mode`,
    value: ({ temperature, logprobTemperature = "sampling" }) =>
      // Greedy sampling counts as temperature 1.
      logprobTemperature === "sampling" && temperature !== 1 && temperature !== 0
        ? "processed_logprobs"
        : "raw_logprobs",
  },
  { ours: "rollout.train.top_p", theirs: `${rollout}.top_p`, value: (run) => run.topP },
  {
    ours: "rollout.train.top_k",
    theirs: `${rollout}.top_k`,
    value: (run) => (run.topK === 0 ? -1 : run.topK),
  },
  {
    ours: "rollout.train.max_tokens",
    theirs: `${rollout}.response_length`,
    value: (run) => run.maxTokens,
  },
  {
    ours: "training.learning_rate",
    theirs: `${actor}.optim.lr`,
    value: (run) => run.optim.learningRate,
  },
  {
    ours: "training.weight_decay",
    theirs: `${actor}.optim.weight_decay`,
    value: (run) => run.optim.weightDecay,
  },
  {
    ours: "training.beta1, training.beta2",
    theirs: `${actor}.optim.betas`,
    value: ({ optim }) => `[${optim.beta1},${optim.beta2}]`,
  },
  {
    ours: "training.eps",
    theirs: `${actor}.optim.override_optimizer_config`,
    value: (run) => `{eps:${run.optim.eps}}`,
  },
  {
    ours: "training.max_grad_norm",
    theirs: `${actor}.optim.clip_grad`,
    value: ({ optim }) => (optim.maxGradNorm === 0 ? never : optim.maxGradNorm),
  },
  {
    ours: "training.max_grad_norm",
    theirs: `${actor}.grad_clip`,
    value: ({ optim }) => (optim.maxGradNorm === 0 ? never : optim.maxGradNorm),
  },
  {
    ours: "verl.gpus_per_node",
    theirs: "trainer.n_gpus_per_node",
    value: (_, { gpusPerNode = 8 }) => gpusPerNode,
  },
  { ours: "verl.nodes", theirs: "trainer.nnodes", value: (_, { nodes = 1 }) => nodes },
  {
    ours: "verl.placement",
    theirs: "actor_rollout_ref.hybrid_engine",
    value: (_, { placement }) => String(placement !== "disaggregated"),
  },
  {
    ours: "verl.inference_nodes",
    theirs: `${rollout}.nnodes`,
    value: (_, { placement, inferenceNodes = 1 }) =>
      placement === "disaggregated" ? inferenceNodes : 0,
  },
  {
    ours: "verl.inference_gpus_per_node",
    theirs: `${rollout}.n_gpus_per_node`,
    value: (_, { gpusPerNode = 8, inferenceGpusPerNode = gpusPerNode }) => inferenceGpusPerNode,
  },
  {
    ours: "verl.inference",
    theirs: `${rollout}.name`,
    value: (_, { inference = "vllm" }) => inference,
  },
  {
    ours: "verl.tensor_parallel",
    theirs: `${rollout}.tensor_model_parallel_size`,
    value: (_, { tensorParallel = 1 }) => tensorParallel,
  },
];

/** What the TypeScript side or the bridge does instead; setting these keys would have no effect. */
const replaced: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/optim\.(?:lr_|total_training|num_cycles|min_lr)/u, "training.lr_schedule and warmup_steps"],
  [/^algorithm\.(?!rollout_correction)/u, "the options under algorithm"],
  [
    /^trainer\.(?:save_freq|test_freq|val_|total_|resume|default_local|project|experiment|logger)/u,
    "the options under trainer",
  ],
  [/^data\.(?:train_files|val_files|shuffle|seed)/u, "the options under data and dataset"],
  [
    /^actor_rollout_ref\.actor\.(?:policy_loss|loss_agg_mode|loss_scale_factor|clip_ratio|tau_|entropy_coeff|use_kl_loss|kl_loss)/u,
    "algorithm.loss, aggregation, kl_beta and entropy_coef",
  ],
  [/^actor_rollout_ref\.model\.path$/u, "model.name"],
  [/^actor_rollout_ref\.model\.target_modules$/u, "model.lora_targets"],
  [/^actor_rollout_ref\.model\.lora/u, "model.lora_rank and lora_alpha"],
  [/^(?:reward|custom_reward_function)/u, "an evaluator"],
];

const bare = (key: string): string => key.replace(/^(?:\+\+?|~)/u, "");

function isSame(given: string, value: string | number): boolean {
  if (typeof value === "number") return Number(given) === value;
  return given.replaceAll(" ", "") === value;
}

function conflict(
  theirs: string,
  given: string,
  ours: string,
  value: string | number,
): ConfigError {
  return new ConfigError({
    message: `verl's ${theirs}=${given} contradicts ${ours}, which comes to ${value}.`,
    hint: `Set ${ours}, and leave verl's key out.`,
    fields: { theirs, given, ours, value },
  });
}

/**
 * The overrides for verl: ours, then the user's.
 * @throws ConfigError for a user's key that contradicts one of our options, or that has no effect.
 */
export function verlOverrides(options: VerlBackendOptions): string[] {
  const { critic = false } = options.run;
  const keys = critic ? [...sharedKeys, ...criticKeys] : sharedKeys;
  const notOurs = [...replaced, ...replacedOfCritic(critic)];
  const shared = keys.map((key) => ({ ...key, now: key.value(options.run, options) }));
  for (const entry of options.overrides ?? []) {
    const [left = "", ...rest] = entry.split("=");
    const key = bare(left.trim());
    const given = rest.join("=").trim();
    const known = shared.find(({ theirs }) => bare(theirs) === key);
    if (known && !isSame(given, known.now)) throw conflict(key, given, known.ours, known.now);
    const instead = notOurs.find(([pattern]) => pattern.test(key))?.[1];
    if (instead !== undefined && !known) {
      throw new ConfigError({
        message: `verl's ${key} does nothing here: agent-trainer does that part itself.`,
        hint: `Use ${instead}.`,
        fields: { key },
      });
    }
  }
  const ours = shared.map(({ theirs, now }) => `${theirs}=${now}`);
  const placed = options.placement === "disaggregated" ? apart : [];
  const defaults = [...placed, ...(critic ? criticDefaults : [])];
  return [...new Set([...ours, ...defaults, ...(options.overrides ?? [])])];
}
