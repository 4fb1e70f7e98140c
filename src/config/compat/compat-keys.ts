/**
 * Table of rLLM's configuration keys, and of verl's where rLLM passes them on, and what they are here:
 * most have the same name without `rllm.`; the others are renamed, accepted only with values that match
 * what happens anyway, or ignored with a warning.
 */

/** Leave the option at its default. */
export const unset: unique symbol = Symbol("unset");

interface Renamed {
  readonly from: string;
  /** Our keys; several get the same value. */
  readonly to: string | readonly string[];
  /** Converts their value to ours. @default the same, and `null` leaves ours at its default */
  readonly read?: (value: unknown) => unknown;
}

interface Fixed {
  readonly from: string;
  /** Accepted values: those that match what happens anyway. */
  readonly only: readonly unknown[];
  /** Why no other is accepted, or what to use instead. */
  readonly why: string;
  /** Backends that have an option for it: our key. */
  readonly on?: Readonly<Record<string, string>>;
}

interface Idle {
  readonly from: string;
  /** What happens anyway, or who reads it. */
  readonly idle: string;
}

export type CompatKey = Renamed | Fixed | Idle;

const orUnset = (value: unknown): unknown => value ?? unset;
const from0 = (value: unknown): unknown =>
  typeof value === "number" && value < 0 ? 0 : orUnset(value);
const byName =
  (names: Readonly<Record<string, string>>) =>
  (value: unknown): unknown =>
    typeof value === "string" ? (names[value] ?? value) : orUnset(value);

/** rLLM's list of loggers, without those that every run has. `tracking` is its old name of W&B. */
const trackersOf = (value: unknown): unknown => {
  if (value === null) return unset;
  const names = Array.isArray(value) ? (value as readonly unknown[]) : [value];
  return names
    .filter((name) => name !== "console" && name !== "file")
    .map((name) => (name === "tracking" ? "wandb" : name));
};

const lossNames = byName({
  vanilla: "ppo",
  grpo: "ppo",
  dapo: "ppo",
  "importance-sampling": "importance_sampling",
  geo_mean: "gmpo",
});
const klNames = byName({ kl: "k1", mse: "k2", low_var_kl: "k3" });

const actor = "actor_rollout_ref.actor";
const rollout = "actor_rollout_ref.rollout";
const model = "actor_rollout_ref.model";
/** Chat templates get no arguments when the gateway renders prompts. */
const withoutThinking =
  "use the model's own switch in the prompt, such as /no_think at the end of a message for Qwen3; chat_template_kwargs are passed only to servers that render prompts themselves";
const legacy = "rLLM's trainer does not read it either";

/** A name that ends in `.*` covers everything below it that has no separate entry. */
export const compatKeys: readonly CompatKey[] = [
  // rLLM
  {
    from: "data.max_response_length",
    to: ["rollout.train.max_tokens", "rollout.val.max_tokens"],
  },
  { from: "model_name", to: "model.name" },
  {
    from: "model.train_unembed",
    only: [false],
    why: "adapters are put on attention and MLP matrices",
    on: { fireworks: "fireworks.train_unembed" },
  },
  ...["train_attn", "train_mlp"].map((name) => ({
    from: `model.${name}`,
    only: [true],
    why: "adapters are put on attention and MLP matrices",
    on: { fireworks: `fireworks.${name}` },
  })),
  {
    from: "model.tokenizer_model",
    only: [null],
    why: "the model brings its own tokenizer",
    on: { fireworks: "fireworks.tokenizer", tinker: "tinker.tokenizer" },
  },
  { from: "training.group_size", to: "rollout.n" },
  { from: "validation.group_size", to: "rollout.n_val" },
  { from: "training.grad_clip_norm", to: "training.max_grad_norm" },
  { from: "training.default_local_dir", to: "trainer.output_dir" },
  { from: "trainer.default_local_dir", to: "trainer.output_dir" },
  ...["training.resume_mode", "trainer.resume_mode"].map((from) => ({
    from,
    only: ["disable", null],
    why: "to resume a run, use --resume, or resume in code",
  })),
  {
    from: "training.resume_from_path",
    only: [null],
    why: "to resume a run, use --resume FOLDER, or resume in code",
  },
  {
    from: "training.max_length",
    only: [null],
    why: "rows are as long as the conversation and are never truncated",
    on: { fireworks: "fireworks.context_length" },
  },
  {
    from: "trainer.total_training_steps",
    to: "trainer.total_batches",
    read: (value) => (typeof value === "number" && value <= 0 ? unset : orUnset(value)),
  },
  {
    from: "trainer.project_name",
    to: "tracking.project",
  },
  {
    from: "trainer.logger",
    to: "tracking.trackers",
    read: trackersOf,
  },
  { from: "algorithm.lr_schedule", to: "training.lr_schedule" },
  { from: "algorithm.warmup_steps", to: "training.warmup_steps", read: from0 },
  { from: "algorithm.warmup_steps_ratio", to: "training.warmup_steps_ratio" },
  { from: "algorithm.use_rllm", idle: legacy },
  {
    from: "algorithm.env_loss_coef",
    only: [null, 0],
    why: "only sampled tokens are trained, not what the environment says",
  },
  ...[
    "mask_verifier_timeout",
    "mask_grading_error",
    "mask_sandbox_error",
    "mask_agent_setup_timeout",
    "mask_env_start_timeout",
    "mask_model_error",
  ].map((name) => ({
    from: `compact_filtering.${name}`,
    idle: "such rollouts end as error or timeout, and are excluded in any case",
  })),
  {
    from: "algorithm.router_replay",
    only: ["disabled", false, null],
    why: "expert routing (MoE) is not captured",
  },
  { from: "mask_truncated_samples", to: "algorithm.mask_truncated_samples" },
  {
    from: "filter_token_mismatch",
    idle: "turns are merged only where their token ids match exactly",
  },
  {
    from: "disable_thinking",
    only: [false],
    why: withoutThinking,
  },
  {
    from: "accumulate_reasoning",
    only: [false],
    why: "later turns begin with the ids that were sampled, reasoning included",
  },
  {
    from: "rejection_sample.filter_uniform_groups",
    to: "algorithm.filter_uniform_groups",
  },
  {
    from: "rejection_sample.mode",
    only: ["episode", null],
    why: "rejection sampling works on whole tasks",
  },
  { from: "transform.impute_missing_names", only: [true], why: "unnamed calls are named agent" },
  {
    from: "transform.drop_unnamed_traj",
    only: [false],
    why: "use rollout.untrained_roles=[agent]",
  },
  { from: "transform.default_traj_name", idle: "unnamed calls are named agent" },
  {
    from: "workflow.raise_on_error",
    to: "trainer.max_failed_fraction",
    read: (value) => (value === true ? 0 : value === false ? 1 : orUnset(value)),
  },
  { from: "workflow.workflow_args.timeout", to: "workflow.timeout_s" },
  { from: "workflow.warm_queue_size", idle: "a setup hook runs when its rollout begins" },
  { from: "workflow.use_workflow", idle: "what is given to AgentTrainer says it" },
  { from: "workflow.name", idle: "what is given to AgentTrainer says it" },
  { from: "workflow.workflow_args.*", idle: "workflowArgs of AgentTrainer are read" },
  { from: "agent.*", idle: legacy },
  { from: "env.*", idle: legacy },
  {
    from: "remote_runtime.enabled",
    only: [false],
    why: "for an agent that runs remotely, write a flow that calls it",
  },
  { from: "remote_runtime.*", idle: "remote_runtime.enabled is false" },
  { from: "gateway.cumulative_token_mode", idle: "later turns always begin with sampled ids" },
  {
    from: "gateway.tunnel",
    only: [null],
    why: "open the tunnel yourself, and set gateway.public_url to its address",
  },
  { from: "gateway.*", idle: "a run starts its own gateway" },
  {
    from: "async_training.fwd_bwd_group_size",
    only: [null],
    why: "async_training.mini_batch_size sets the number of tasks per update",
  },
  ...["episode_offload_dir", "trajectory_group_offload_dir"].map((name) => ({
    from: `async_training.${name}`,
    only: [null],
    why: "buffered rollouts are kept in memory and in checkpoints",
  })),
  { from: "episode_logging.*", idle: "every run writes its episodes into the run folder" },
  {
    from: "rollout_engine.renderer_name",
    only: [null],
    why: "the model's family determines the renderer",
  },
  {
    from: "rollout_engine.accumulate_reasoning",
    only: [false],
    why: "later turns begin with the ids that were sampled, reasoning included",
  },
  {
    from: "rollout_engine.disable_thinking",
    only: [false],
    why: withoutThinking,
  },
  { from: "rollout_engine.*", idle: "the agent's calls and the model's family determine it" },
  {
    from: "fuse_forward_backward_and_optim_step",
    idle: "both are sent together where that is faster",
  },
  { from: "hydra.*", idle: "Hydra itself is not used" },

  // rLLM, for Fireworks
  { from: "fireworks_base_url", to: "fireworks.base_url" },
  { from: "training.client_timeout", to: "fireworks.timeout_s" },
  ...["resume_from_fireworks_job_id", "resume_from_dcp_checkpoint"].map((name) => ({
    from: `training.${name}`,
    only: [null],
    why: "a run's trainer is deleted with it, and its checkpoints are loaded in no other",
  })),
  { from: "fireworks_config.policy_trainer_shape_id", to: "fireworks.training_shape" },
  { from: "fireworks_config.policy_trainer_replica_count", to: "fireworks.trainer_replicas" },
  {
    from: "fireworks_config.rollout_deployment_replica_count",
    to: "fireworks.deployment_replicas",
  },
  {
    from: "fireworks_config.reference_trainer_shape_id",
    idle: "the trainer of an adapter has the base model as its reference",
  },
  {
    from: "fireworks_config.reference_trainer_replica_count",
    only: [0, null],
    why: "the trainer of an adapter has the base model as its reference, and another trainer is never created",
  },
  { from: "concurrency.max_window", to: "fireworks.max_concurrent_samples" },
  { from: "concurrency.*", idle: "fireworks.max_concurrent_samples limits samples in flight" },
  { from: "fireworks_infra.common.step_timeout", to: "fireworks.timeout_s" },
  {
    from: "fireworks_infra.common.weight_sync_timeout",
    to: "fireworks.weight_sync_timeout_s",
  },
  { from: "fireworks_infra.trainers.policy.training_shape_id", to: "fireworks.training_shape" },
  { from: "fireworks_infra.trainers.policy.replica_count", to: "fireworks.trainer_replicas" },
  { from: "fireworks_infra.trainers.policy.region", to: "fireworks.region" },
  { from: "fireworks_infra.trainers.policy.timeout_s", to: "fireworks.ready_timeout_s" },
  {
    from: "fireworks_infra.deployments.rollout.replica_count",
    to: "fireworks.deployment_replicas",
  },
  ...[
    "trainers.policy.job_id",
    "trainers.reference.job_id",
    "deployments.rollout.deployment_id",
  ].map((name) => ({
    from: `fireworks_infra.${name}`,
    only: [null],
    why: "a run creates its own trainer and deployment, and deletes them",
  })),
  ...["deployments.rollout.deployment_shape", "trainers.policy.custom_image_tag"].map((name) => ({
    from: `fireworks_infra.${name}`,
    only: [null],
    why: "the training shape determines it",
  })),
  {
    from: "fireworks_infra.trainers.policy.skip_validations",
    only: [false],
    why: "the service checks what it is asked for",
  },
  ...["trainers.policy", "deployments.rollout"].map((name) => ({
    from: `fireworks_infra.${name}.${name.startsWith("trainers") ? "extra_args" : "extra_values"}`,
    only: [null],
    why: "extra arguments are not passed on",
  })),
  {
    from: "fireworks_infra.deployments.rollout.disable_speculative_decoding",
    only: [false],
    why: "the deployment shape determines it",
  },
  {
    from: "fireworks_infra.*",
    idle: "model.name, model.lora_rank and the options of fireworks determine it",
  },

  // verl
  { from: "algorithm.gamma", only: [1], why: "use stepwise_advantage.gamma" },
  {
    from: "algorithm.lam",
    only: [1],
    why: "no backend has a value model, so GAE is not supported",
  },
  {
    from: "algorithm.kl_ctrl.type",
    only: ["fixed"],
    why: "only a fixed KL coefficient is supported",
  },
  ...["horizon", "target_kl"].map((name) => ({
    from: `algorithm.kl_ctrl.${name}`,
    idle: "a fixed coefficient does not read it",
  })),
  { from: "algorithm.filter_groups.enable", to: "algorithm.filter_uniform_groups" },
  { from: "algorithm.filter_groups.metric", idle: "groups are compared by their rewards" },
  { from: "algorithm.rollout_correction.rollout_is", to: "algorithm.rollout_correction.tis_mode" },
  {
    from: "algorithm.rollout_correction.rollout_is_threshold",
    to: "algorithm.rollout_correction.tis_cap",
  },
  {
    from: "algorithm.rollout_correction.loss_type",
    only: ["ppo_clip", null],
    why: "use algorithm.loss_fn to choose the loss",
  },
  ...["reward_model", "reward"].flatMap((section): CompatKey[] => [
    { from: `${section}.overlong_buffer.enable`, to: "algorithm.overlong_buffer.enable" },
    { from: `${section}.overlong_buffer.len`, to: "algorithm.overlong_buffer.len" },
    {
      from: `${section}.overlong_buffer.penalty_factor`,
      to: "algorithm.overlong_buffer.penalty_factor",
    },
    { from: `${section}.overlong_buffer.log`, idle: "metrics are always written" },
  ]),
  { from: "reward_model.enable", only: [false], why: "call a reward model from an evaluator" },
  { from: "trainer.nnodes", to: "verl.nodes" },
  { from: "trainer.n_gpus_per_node", to: "verl.gpus_per_node" },
  { from: `${actor}.clip_ratio`, to: "algorithm.eps_clip" },
  { from: `${actor}.clip_ratio_low`, to: "algorithm.eps_clip" },
  { from: `${actor}.clip_ratio_high`, to: "algorithm.eps_clip_high" },
  { from: `${actor}.clip_ratio_c`, to: "algorithm.clip_ratio_c" },
  { from: `${actor}.loss_scale_factor`, to: "algorithm.loss_scale_factor" },
  { from: `${actor}.policy_loss.dro_beta`, to: "algorithm.dro_beta" },
  { from: `${actor}.tau_pos`, to: "algorithm.sapo_tau_pos" },
  { from: `${actor}.tau_neg`, to: "algorithm.sapo_tau_neg" },
  {
    from: `${actor}.use_kl_loss`,
    only: [true],
    why: "to turn the KL loss off, set algorithm.kl_beta=0",
  },
  { from: `${actor}.kl_loss_coef`, to: "algorithm.kl_beta" },
  { from: `${actor}.kl_loss_type`, to: "algorithm.kl_estimator", read: klNames },
  { from: `${actor}.entropy_coeff`, to: "algorithm.entropy_coef" },
  { from: `${actor}.policy_loss.loss_mode`, to: "algorithm.loss_fn", read: lossNames },
  { from: `${actor}.loss_agg_mode`, to: "algorithm.loss_agg_mode" },
  { from: `${actor}.ppo_epochs`, to: "training.ppo_epochs" },
  { from: `${actor}.grad_clip`, to: "training.max_grad_norm" },
  { from: `${actor}.optim.lr`, to: "training.learning_rate" },
  { from: `${actor}.optim.weight_decay`, to: "training.weight_decay" },
  { from: `${actor}.optim.lr_warmup_steps`, to: "training.warmup_steps", read: from0 },
  { from: `${actor}.optim.lr_warmup_steps_ratio`, to: "training.warmup_steps_ratio" },
  { from: `${actor}.optim.min_lr_ratio`, to: "training.min_lr_ratio" },
  { from: `${actor}.optim.lr_scheduler_type`, to: "training.lr_schedule" },
  { from: `${rollout}.n`, to: "rollout.n" },
  { from: `${rollout}.temperature`, to: "rollout.train.temperature" },
  { from: `${rollout}.top_p`, to: "rollout.train.top_p" },
  { from: `${rollout}.top_k`, to: "rollout.train.top_k", read: from0 },
  { from: `${rollout}.response_length`, to: "rollout.train.max_tokens" },
  { from: `${rollout}.val_kwargs.n`, to: "rollout.n_val" },
  { from: `${rollout}.val_kwargs.temperature`, to: "rollout.val.temperature" },
  { from: `${rollout}.val_kwargs.top_p`, to: "rollout.val.top_p" },
  { from: `${rollout}.val_kwargs.top_k`, to: "rollout.val.top_k", read: from0 },
  { from: `${rollout}.val_kwargs.do_sample`, idle: "rollout.val.temperature=0 is greedy" },
  { from: `${rollout}.name`, to: "verl.inference" },
  { from: `${rollout}.tensor_model_parallel_size`, to: "verl.tensor_parallel" },
  { from: `${model}.path`, to: "model.name" },
  { from: `${model}.lora_rank`, to: "model.lora_rank" },
  { from: `${model}.lora_alpha`, to: "model.lora_alpha" },
];

/** Conversions of values that have other names in rLLM or verl, by our key. */
export const compatValues: Readonly<Record<string, (value: unknown) => unknown>> = {
  "algorithm.loss_fn": lossNames,
  "algorithm.kl_penalty": klNames,
  "algorithm.kl_estimator": klNames,
  "algorithm.loss_agg_mode": orUnset,
  "training.warmup_steps": from0,
  "trainer.test_freq": from0,
  "trainer.save_freq": from0,
  "rollout.train.top_k": from0,
  "rollout.val.top_k": from0,
};

/** Conversions of values whose meaning differs with `rllm.` before the key. */
export const rllmValues: Readonly<Record<string, (value: unknown) => unknown>> = {
  // Total attempts there, retries here.
  "workflow.retry_limit": (value) => (typeof value === "number" ? Math.max(0, value - 1) : value),
};

/** Keys below this that have no entry above are passed on to verl. */
export const verlOwn = "actor_rollout_ref.";
