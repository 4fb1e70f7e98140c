/** Keys of verl's `actor_rollout_ref` that mean something here; those that are absent go to verl. */
import { warmupRatio, warmupSteps } from "./earlier-keys.ts";
import {
  aboveZero,
  byName,
  type CompatKey,
  from0,
  idleKeys,
  klNames,
  type Look,
  lossNames,
  unset,
} from "./key-kinds.ts";

const actor = "actor_rollout_ref.actor";
const rollout = "actor_rollout_ref.rollout";
const model = "actor_rollout_ref.model";

/** verl counts the tasks of a mini-batch, this package the mini-batches of a step. */
function miniBatches(size: unknown, look: Look): unknown {
  const tasks = look("data.train_batch_size");
  if (typeof size !== "number" || size <= 0 || typeof tasks !== "number") return unset;
  // An asynchronous step is one mini-batch.
  if (look("async_training.enable") === true) return unset;
  return Math.max(1, Math.floor(tasks / size));
}

const ifGreedy = (value: unknown): unknown => (value === false ? 0 : unset);

/** verl's name of linear layers that get an adapter. */
const loraTargets = byName({ "all-linear": "all" });

const optimizerKeys: readonly CompatKey[] = [
  { from: `${actor}.optim.lr`, to: "training.learning_rate" },
  { from: `${actor}.optim.weight_decay`, to: "training.weight_decay" },
  {
    from: `${actor}.optim.betas`,
    to: ["training.beta1", "training.beta2"],
    each: true,
  },
  { from: `${actor}.optim.override_optimizer_config.eps`, to: "training.eps" },
  { from: `${actor}.optim.override_optimizer_config`, only: [null], why: "use training.eps" },
  ...[`${actor}.grad_clip`, `${actor}.optim.clip_grad`].map((from) => ({
    from,
    to: "training.max_grad_norm",
  })),
  warmupSteps(`${actor}.optim.lr_warmup_steps`),
  warmupRatio(`${actor}.optim.lr_warmup_steps_ratio`),
  { from: `${actor}.optim.min_lr_ratio`, to: "training.lr_schedule.min_ratio" },
  ...["lr_scheduler_type", "lr_decay_style", "decay_type", "warmup_style"].map((name) => ({
    from: `${actor}.optim.${name}`,
    to: "training.lr_schedule.type",
  })),
  {
    from: `${actor}.optim.min_lr`,
    only: [0, null],
    why: "use training.lr_schedule.min_ratio",
  },
  {
    from: `${actor}.optim.lr_warmup_init`,
    only: [0, null],
    why: "the warm-up begins at 0",
  },
  {
    from: `${actor}.optim.num_cycles`,
    only: [0.5, null],
    why: "the cosine schedule is half a cycle",
  },
  ...idleKeys(
    `${actor}.optim.`,
    ["total_training_steps", "lr_decay_steps", "lr_wsd_decay_style", "lr_wsd_decay_steps"],
    "trainer.total_batches or total_epochs determines the steps of the schedule",
    [-1, "exponential"],
  ),
];

/** verl's default of `kl_loss_coef`. */
const defaultKlCoef = 0.001;

/** verl's switch of the penalty: alone, it means verl's coefficient. */
const useKl = (value: unknown, look: Look): unknown => {
  if (value === false) return 0;
  return value === true && look.given("algorithm.kl_beta") === undefined ? defaultKlCoef : unset;
};

const lossKeys: readonly CompatKey[] = [
  { from: `${actor}.clip_ratio`, to: "algorithm.loss.eps_clip", weak: true },
  { from: `${actor}.clip_ratio_low`, to: "algorithm.loss.eps_clip" },
  { from: `${actor}.clip_ratio_high`, to: "algorithm.loss.eps_clip_high" },
  { from: `${actor}.clip_ratio_c`, to: "algorithm.loss.clip_ratio_c" },
  { from: `${actor}.loss_scale_factor`, to: "algorithm.aggregation.length" },
  { from: `${actor}.policy_loss.dro_beta`, to: "algorithm.loss.beta" },
  { from: `${actor}.tau_pos`, to: "algorithm.loss.tau_pos" },
  { from: `${actor}.tau_neg`, to: "algorithm.loss.tau_neg" },
  {
    from: `${actor}.use_kl_loss`,
    to: "algorithm.kl_beta",
    read: useKl,
    last: true,
  },
  { from: `${actor}.kl_loss_coef`, to: "algorithm.kl_beta" },
  { from: `${actor}.kl_loss_type`, to: "algorithm.kl_estimator", read: klNames },
  { from: `${actor}.entropy_coeff`, to: "algorithm.entropy_coef" },
  { from: `${actor}.policy_loss.loss_mode`, to: "algorithm.loss.type", read: lossNames },
  ...idleKeys(
    `${actor}.policy_loss.`,
    ["clip_cov_ratio", "clip_cov_lb", "clip_cov_ub", "kl_cov_ratio", "ppo_kl_coef"],
    "the losses clip_cov and kl_cov, which read it, are not supported",
  ),
  { from: `${actor}.loss_agg_mode`, to: "algorithm.aggregation.type" },
  { from: `${actor}.ppo_epochs`, to: "training.ppo_epochs" },
  {
    from: `${actor}.ppo_mini_batch_size`,
    to: "training.num_minibatches",
    read: miniBatches,
    last: true,
  },
  {
    from: `${actor}.use_rollout_log_probs`,
    idle: "algorithm.rollout_correction.bypass_mode decides it",
    usual: [true],
  },
  ...[`${actor}.router_replay.mode`, "actor_rollout_ref.ref.router_replay.mode"].map((from) => ({
    from,
    only: ["disabled", null],
    why: "expert routing (MoE) is not captured",
  })),
];

const rolloutKeys: readonly CompatKey[] = [
  { from: `${rollout}.n`, to: "rollout.n" },
  { from: `${rollout}.temperature`, to: "rollout.train.temperature" },
  { from: `${rollout}.top_p`, to: "rollout.train.top_p" },
  { from: `${rollout}.top_k`, to: "rollout.train.top_k", read: from0 },
  { from: `${rollout}.response_length`, to: "rollout.train.max_tokens" },
  {
    from: `${rollout}.do_sample`,
    to: "rollout.train.temperature",
    read: ifGreedy,
    last: true,
  },
  { from: `${rollout}.val_kwargs.n`, to: "rollout.n_val" },
  { from: `${rollout}.val_kwargs.temperature`, to: "rollout.val.temperature" },
  { from: `${rollout}.val_kwargs.top_p`, to: "rollout.val.top_p" },
  { from: `${rollout}.val_kwargs.top_k`, to: "rollout.val.top_k", read: from0 },
  {
    from: `${rollout}.val_kwargs.do_sample`,
    to: "rollout.val.temperature",
    read: ifGreedy,
    last: true,
  },
  {
    from: `${rollout}.logprobs_mode`,
    to: "algorithm.logprob_temperature",
    read: byName({ processed_logprobs: "sampling", raw_logprobs: "one" }),
  },
  { from: `${rollout}.name`, to: "verl.inference" },
  { from: `${rollout}.tensor_model_parallel_size`, to: "verl.tensor_parallel" },
  ...["rollout.nnodes", `${rollout}.nnodes`].map((from) => ({
    from,
    to: "verl.placement.nodes",
    read: aboveZero,
  })),
  ...["rollout.n_gpus_per_node", `${rollout}.n_gpus_per_node`].map((from) => ({
    from,
    to: "verl.placement.gpus_per_node",
  })),
  {
    from: `${rollout}.mode`,
    only: ["async", null],
    why: "servers answer any number of agents at a time",
  },
  {
    from: `${rollout}.calculate_log_probs`,
    only: [true, null],
    noted: [false],
    why: "log-probabilities are recorded with every call",
  },
  ...[`${rollout}.ignore_eos`, `${rollout}.skip_rollout`].map((from) => ({
    from,
    only: [false, null],
    why: "a response ends where the model ends it",
  })),
  ...[`${rollout}.over_sample_rate`, `${rollout}.repetition_penalty`].map((from) => ({
    from,
    only: [from.endsWith("rate") ? 0 : 1, null],
    why: from.endsWith("rate") ? "use rejection_sample.enable" : "the agent sets it in its calls",
  })),
  {
    from: `${rollout}.enable_rollout_routing_replay`,
    only: [false, null],
    why: "expert routing (MoE) is not captured",
  },
  ...["agent.*", "multi_turn.*", "trace.*", "skip_dump_dir"].map((name) => ({
    from: `${rollout}.${name}`,
    idle: "agents run in this program, which records their calls",
    usual: [false, 0],
  })),
  {
    from: "actor_rollout_ref.hybrid_engine",
    to: "verl.placement.type",
    read: (value) => (value === true ? "colocated" : value === false ? "disaggregated" : unset),
  },
];

const modelKeys: readonly CompatKey[] = [
  { from: `${model}.path`, to: "model.name" },
  ...[`${model}.lora_rank`, `${model}.lora.rank`].map((from) => ({ from, to: "model.lora_rank" })),
  ...[`${model}.lora_alpha`, `${model}.lora.alpha`].map((from) => ({
    from,
    to: "model.lora_alpha",
  })),
  {
    from: `${model}.lora.merge`,
    only: [true, null],
    noted: [false],
    why: "adapters are merged into the weights that are served",
  },
  ...[`${model}.target_modules`, `${model}.lora.target_modules`].map((from) => ({
    from,
    to: "model.lora_targets",
    read: loraTargets,
  })),
  ...[`${model}.exclude_modules`, `${model}.lora.exclude_modules`].map((from) => ({
    from,
    only: [null],
    why: "use model.lora_targets",
  })),
  ...[`${model}.lora_adapter_path`, `${model}.lora.adapter_path`].map((from) => ({
    from,
    only: [null],
    why: "adapters start from zero; merge the adapter first and name the result in model.name",
  })),
  {
    from: `${model}.tokenizer_path`,
    only: [null],
    why: "the model brings its own tokenizer",
  },
  {
    from: `${model}.custom_chat_template`,
    only: [null],
    why: "the model brings its own chat template",
  },
];

export const verlActorKeys: readonly CompatKey[] = [
  ...lossKeys,
  ...optimizerKeys,
  ...rolloutKeys,
  ...modelKeys,
];

/** Keys below this that have no entry above are passed on to verl. */
export const verlOwn = "actor_rollout_ref.";
