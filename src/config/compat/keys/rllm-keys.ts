/** Keys of rLLM's configuration; those for Fireworks are in `fireworks-keys.ts`. */
import { warmupRatio, warmupSteps } from "./earlier-keys.ts";
import {
  aboveZero,
  type CompatKey,
  from0,
  type Look,
  orUnset,
  type Renamed,
  unset,
} from "./key-kinds.ts";

/** Loggers that no tracker is: progress, `metrics.jsonl` and the viewer are part of every run. */
const builtIn: ReadonlySet<unknown> = new Set(["console", "file", "ui"]);

const loggersOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as readonly unknown[]) : [value];

/** rLLM's list of loggers, without those that every run has. `tracking` is its old name of W&B. */
const trackersOf = (value: unknown): unknown => {
  if (value === null) return unset;
  const names = loggersOf(value)
    .filter((name) => !builtIn.has(name))
    .map((name) => (name === "tracking" ? "wandb" : name));
  return [...new Set(names)];
};

const isUrl = (value: unknown): boolean => typeof value === "string" && /^https?:/u.test(value);

/** In rLLM, refilling is part of dropping groups; here it is what rejection sampling does. */
const refills = (value: unknown, look: Look): unknown =>
  value === true &&
  look("algorithm.filter_uniform_groups") === true &&
  look("async_training.enable") === true
    ? true
    : unset;

const withoutThinking =
  "the agent chooses it in each call, with chat_template_kwargs: {enable_thinking: false} or reasoning_effort: none";
const legacy = "rLLM's trainer does not read it either";
const ownTokenizer = "the model brings its own tokenizer";
const sampledIds = "later turns begin with the ids that were sampled, reasoning included";

/** Short names of the page that this package follows. */
export const shortKeys: readonly Renamed[] = [
  { from: "training.lr", to: "training.learning_rate" },
  { from: "training.total_epochs", to: "trainer.total_epochs" },
  { from: "training.save_freq", to: "trainer.save_freq" },
  ...["training.val_freq", "trainer.val_freq"].map((from) => ({ from, to: "trainer.test_freq" })),
  { from: "algorithm.name", to: "algorithm.estimator.type" },
  { from: "algorithm.group_size", to: "rollout.n" },
];

export const rllmKeys: readonly CompatKey[] = [
  ...shortKeys,
  {
    from: "data.max_response_length",
    to: ["rollout.train.max_tokens", "rollout.val.max_tokens"],
    weak: true,
  },
  { from: "model_name", to: "model.name" },
  {
    from: "model.train_unembed",
    only: [false],
    why: "adapters are put on attention and MLP matrices",
    on: { fireworks: "fireworks.train_unembed" },
    // The adapters of a Tinker server cover the output head, unless model.lora_targets is set.
    onlyOn: { tinker: [true] },
  },
  {
    from: "model.train_attn",
    to: "model.lora_targets",
    read: (value) => (value === false ? "mlp" : unset),
    on: { fireworks: "fireworks.train_attn" },
  },
  {
    from: "model.train_mlp",
    to: "model.lora_targets",
    read: (value) => (value === false ? "attention" : unset),
    on: { fireworks: "fireworks.train_mlp" },
  },
  {
    from: "model.tokenizer_model",
    only: [null],
    why: ownTokenizer,
    on: { fireworks: "fireworks.tokenizer", tinker: "tinker.tokenizer" },
  },
  { from: "training.group_size", to: "rollout.n" },
  ...["validation.group_size", "training.val_group_size"].map((from) => ({
    from,
    to: "rollout.n_val",
  })),
  { from: "training.grad_clip_norm", to: "training.max_grad_norm" },
  ...["training.default_local_dir", "trainer.default_local_dir"].map((from) => ({
    from,
    to: "trainer.output_dir",
  })),
  ...["training.resume_mode", "trainer.resume_mode"].map((from) => ({
    from,
    only: ["disable", null],
    noted: ["auto"],
    why: "a run starts anew; to resume one, use --resume, or resume in code",
  })),
  ...["training.resume_from_path", "trainer.resume_from_path", "trainer.resume_from_tinker_id"].map(
    (from) => ({
      from,
      only: [null, false],
      why: "to resume a run, use --resume FOLDER, or resume in code",
    }),
  ),
  {
    from: "training.max_length",
    only: [null],
    why: "rows are as long as the conversation and are never truncated",
    on: { fireworks: "fireworks.context_length", tinker: "tinker.context_length" },
  },
  { from: "trainer.total_training_steps", to: "trainer.total_batches", read: aboveZero },
  { from: "trainer.project_name", to: "tracking.project" },
  {
    from: "trainer.logger",
    to: "tracking.trackers",
    read: trackersOf,
    note: (value) =>
      loggersOf(value).includes("ui")
        ? { part: "ui", why: "agent-trainer view shows runs" }
        : undefined,
  },
  { from: "algorithm.lr_schedule", to: "training.lr_schedule.type" },
  warmupSteps("algorithm.warmup_steps"),
  warmupRatio("algorithm.warmup_steps_ratio"),
  { from: "algorithm.use_rllm", idle: legacy, usual: [true] },
  { from: "algorithm.remove_constant_reward_groups", to: "algorithm.filter_uniform_groups" },
  {
    from: "algorithm.grouping_level",
    only: ["trajectory", null],
    why: "use stepwise_advantage.mode=per_step",
  },
  ...["algorithm.shared_tokenizer", "algorithm.teacher_rollout_args.*"].map((from) => ({
    from,
    idle: "the options under distillation describe a teacher",
    usual: [false],
  })),
  {
    from: "algorithm.env_loss_coef",
    to: "algorithm.observation_loss",
    read: (value) =>
      typeof value === "number" && value > 0 ? [`tool=${value}`, `user=${value}`] : unset,
    refuse: (value) =>
      value === null || (typeof value === "number" && value >= 0)
        ? undefined
        : "it must be a number from 0 on",
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
    usual: [true],
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
    usual: [true],
  },
  { from: "disable_thinking", only: [false, null], why: withoutThinking },
  { from: "accumulate_reasoning", only: [false, null], noted: [true], why: sampledIds },
  {
    from: "rejection_sample.filter_uniform_groups",
    to: "algorithm.filter_uniform_groups",
  },
  {
    from: "rejection_sample.refill_filtered_uniform_groups",
    to: "rejection_sample.enable",
    read: refills,
    last: true,
  },
  {
    from: "rejection_sample.multiplier",
    idle: "rejection sampling rolls out data.train_batch_size tasks at a time; what a step does not need waits for the next one",
    usual: [1],
  },
  {
    from: "rejection_sample.min_partial_solve_tasks",
    idle: "a step trains on data.train_batch_size tasks, or on what rejection_sample.max_batches batches gave",
    usual: [1],
  },
  {
    from: "rejection_sample.min_trajs_per_group",
    idle: "a task needs rollouts whose rewards differ",
    usual: [1, 2],
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
  {
    from: "workflow.verify_only_on_env_done",
    only: [false, null],
    why: "every rollout is scored; to score only those that ended, let the evaluator read episode.terminationReason",
  },
  { from: "workflow.workflow_args.timeout", to: "workflow.timeout_s" },
  {
    from: "workflow.warm_queue_size",
    idle: "a setup hook runs when its rollout begins",
    usual: [-1, 0],
  },
  ...["workflow.use_workflow", "workflow.name"].map((from) => ({
    from,
    idle: "what is given to AgentTrainer says it",
    usual: [false, "single_turn_workflow"],
  })),
  {
    from: "workflow.workflow_args.*",
    idle: "workflowArgs of AgentTrainer are read",
    usual: [0],
  },
  { from: "agent.*", idle: legacy, usual: ["math_agent", 20, 1, false] },
  { from: "env.*", idle: legacy, usual: ["custom"] },
  ...["sampling", "val_sampling"].flatMap((section) => {
    const ours = section === "sampling" ? "rollout.train" : "rollout.val";
    return ["temperature", "top_p", "top_k", "max_tokens"].map((name) => ({
      from: `${section}.${name}`,
      to: `${ours}.${name}`,
      read: name === "top_k" ? from0 : orUnset,
    }));
  }),
  ...["train", "val"].flatMap((part) =>
    (
      [
        ["presence_penalty", 0],
        ["frequency_penalty", 0],
        ["repetition_penalty", 1],
      ] as const
    ).map(([name, off]) => ({
      from: `rollout.${part}.${name}`,
      only: [off, null],
      why: "the agent sets it in its calls",
    })),
  ),
  {
    from: "remote_runtime.enabled",
    only: [false, null],
    why: "the agent runs where this program runs: for tasks of Harbor set env=harbor:FOLDER, and for another runtime pass a flow that calls it, or httpAgent of agent-trainer",
  },
  { from: "remote_runtime.*", idle: "remote_runtime.enabled is false", usual: "any" },
  {
    from: "gateway.cumulative_token_mode",
    idle: "later turns always begin with sampled ids",
    usual: "any",
  },
  {
    from: "gateway.tunnel",
    to: "gateway.public_url",
    refuse: (value) =>
      value === null || isUrl(value)
        ? undefined
        : "open the tunnel yourself, and set gateway.public_url to its address",
  },
  { from: "gateway.*", idle: "a run starts its own gateway", usual: ["memory", "auto"] },
  {
    from: "async_training.fwd_bwd_group_size",
    idle: "gradients of async_training.mini_batch_size tasks are summed in as many passes as memory takes",
  },
  ...["episode_offload_dir", "trajectory_group_offload_dir"].map((name) => ({
    from: `async_training.${name}`,
    idle: "buffered rollouts are kept in memory and in checkpoints",
  })),
  {
    from: "episode_logging.*",
    idle: "every run writes its episodes into the run folder",
    usual: "any",
  },
  ...["log_episodes", "episode_log_dir"].map((name) => ({
    from: `trainer.${name}`,
    idle: "every run writes its episodes into the run folder",
    usual: [true, false],
  })),
  {
    from: "rollout_engine.renderer_name",
    only: [null],
    why: "the model's family determines the renderer",
  },
  {
    from: "rollout_engine.accumulate_reasoning",
    only: [false, null],
    noted: [true],
    why: sampledIds,
  },
  { from: "rollout_engine.disable_thinking", only: [false, null], why: withoutThinking },
  {
    from: "rollout_engine.*",
    idle: "the agent's calls and the model's family determine it",
    usual: ["medium", false],
  },
  {
    from: "fuse_forward_backward_and_optim_step",
    idle: "both are sent together where that is faster",
    usual: [false],
  },
  {
    from: "distill.enable",
    only: [false, null],
    why: "use distillation.teacher",
  },
  { from: "distill.*", idle: "the options under distillation describe a teacher" },
  { from: "sdk.*", idle: legacy },
  { from: "hydra.*", idle: "Hydra itself is not used", usual: "any" },
  { from: "hydra/*", idle: "Hydra itself is not used", usual: "any" },
];
