/** Keys of verl's configuration that mean something here, apart from those of `actor_rollout_ref`. */
import { aboveZero, type CompatKey, idleKeys, type Look } from "./key-kinds.ts";

const ownCritic =
  "the critic of algorithm.estimator=gae has its options under algorithm.estimator, such as value_learning_rate";
/** Other estimators of verl read it, too. */
const onlyGae =
  (usual: number, why: string) =>
  (value: unknown, look: Look): string | undefined =>
    value === usual || value === null || look("algorithm.estimator.type") === "gae"
      ? undefined
      : why;
const scored = "an evaluator scores rollouts";
const rowsOfTasks = "tasks are what code passes, or dataset.train names";

const dataKeys: readonly CompatKey[] = [
  { from: "data.train_max_samples", to: "dataset.limit", read: aboveZero },
  { from: "data.val_max_samples", to: "dataset.val_limit", read: aboveZero },
  ...idleKeys("data.", ["train_files", "val_files"], rowsOfTasks),
  ...idleKeys(
    "data.",
    [
      "prompt_key",
      "reward_fn_key",
      "image_key",
      "video_key",
      "image_patch_size",
      "return_raw_input_ids",
      "return_raw_chat",
      "return_full_prompt",
      "return_multi_modal_inputs",
      "tool_config_path",
      "tokenizer",
      "use_shm",
      "trust_remote_code",
      "dataloader_num_workers",
      "filter_overlong_prompts_workers",
      "gen_batch_size",
      "mm_process_config",
    ],
    "tasks are given to the agent as they are",
    [false],
  ),
  ...idleKeys(
    "data.",
    ["filter_overlong_prompts", "truncation"],
    "a prompt above data.max_prompt_length ends its rollout, and none is truncated",
    [false, "error"],
  ),
  {
    from: "data.shuffle",
    only: [true, null],
    why: "the tasks of an epoch are shuffled; data.curriculum sorts them",
  },
  {
    from: "data.validation_shuffle",
    idle: "the order of validation tasks changes nothing",
    usual: [false],
  },
  ...[
    ["data.custom_cls.path", "use dataset.train=path#export"],
    ["data.sampler.class_path", "use data.curriculum"],
    ["data.datagen.path", "use a dataset that is a generator, dataset.train=path#export"],
    [
      "data.apply_chat_template_kwargs.*",
      "the agent chooses it in each call, with chat_template_kwargs",
    ],
  ].map(([from, why]) => ({ from: from as string, only: [null], why: why as string })),
  ...idleKeys(
    "data.",
    ["custom_cls.name", "sampler.class_name", "datagen.name"],
    "the file that it belongs to is not set",
  ),
];

const trainerKeys: readonly CompatKey[] = [
  { from: "trainer.nnodes", to: "verl.nodes" },
  { from: "trainer.n_gpus_per_node", to: "verl.gpus_per_node" },
  { from: "trainer.max_actor_ckpt_to_keep", to: "trainer.keep_checkpoints" },
  // Which accelerator and which engine verl uses.
  { from: "trainer.device", to: "verl.config.trainer.device" },
  { from: "model_engine", to: "verl.config.model_engine" },
  {
    from: "trainer.critic_warmup",
    to: "algorithm.estimator.critic_warmup",
    refuse: onlyGae(
      0,
      "there is no critic to warm up: set algorithm.estimator=gae, or leave it out",
    ),
    last: true,
  },
  ...idleKeys(
    "trainer.",
    [
      "default_hdfs_dir",
      "del_local_ckpt_after_load",
      "remove_previous_ckpt_in_save",
      "max_critic_ckpt_to_keep",
    ],
    "checkpoints are in the run folder, and trainer.keep_checkpoints says how many",
    [false],
  ),
  ...idleKeys(
    "trainer.",
    ["log_val_generations", "rollout_data_dir", "validation_data_dir"],
    "every run writes its episodes into the run folder",
    [0],
  ),
  ...idleKeys(
    "trainer.",
    [
      "balance_batch",
      "esi_redundant_time",
      "ray_wait_register_center_timeout",
      "use_legacy_worker_impl",
      "use_v1",
      "profile_steps",
    ],
    "it concerns verl's own trainer, which is not used",
    [true, 0, "auto"],
  ),
];

const algorithmKeys: readonly CompatKey[] = [
  {
    from: "algorithm.gamma",
    to: "algorithm.estimator.gamma",
    refuse: onlyGae(1, "use stepwise_advantage.gamma"),
    last: true,
  },
  { from: "algorithm.lam", to: "algorithm.estimator.lambda" },
  {
    from: "algorithm.kl_ctrl.type",
    only: ["fixed", null],
    why: "only a fixed KL coefficient is supported",
  },
  ...["horizon", "target_kl"].map((name) => ({
    from: `algorithm.kl_ctrl.${name}`,
    idle: "a fixed coefficient does not read it",
  })),
  { from: "algorithm.use_pf_ppo", only: [false, null], why: "use rejection_sample" },
  { from: "algorithm.pf_ppo.*", idle: "algorithm.use_pf_ppo is false" },
  { from: "algorithm.filter_groups.enable", to: "rejection_sample.enable" },
  { from: "algorithm.filter_groups.metric", idle: "groups are compared by their rewards" },
  {
    from: "algorithm.filter_groups.max_num_gen_batches",
    to: "rejection_sample.max_batches",
    read: aboveZero,
  },
  { from: "algorithm.rollout_correction.rollout_is", to: "algorithm.rollout_correction.type" },
  {
    from: "algorithm.rollout_correction.rollout_is_threshold",
    to: "algorithm.rollout_correction.cap",
  },
  {
    from: "algorithm.rollout_correction.loss_type",
    only: ["ppo_clip", null],
    why: "use algorithm.loss to choose the loss",
  },
];

const rewardKeys: readonly CompatKey[] = [
  ...["reward_model", "reward"].flatMap((section): CompatKey[] => [
    { from: `${section}.overlong_buffer.enable`, to: "algorithm.overlong_buffer.enable" },
    { from: `${section}.overlong_buffer.len`, to: "algorithm.overlong_buffer.len" },
    {
      from: `${section}.overlong_buffer.penalty_factor`,
      to: "algorithm.overlong_buffer.penalty_factor",
    },
    {
      from: `${section}.overlong_buffer.log`,
      idle: "metrics are always written",
    },
  ]),
  ...["reward_model.enable", "reward.reward_model.enable"].map((from) => ({
    from,
    only: [false, null],
    why: "call a reward model from an evaluator",
  })),
  ...["custom_reward_function.path", "reward.custom_reward_function.path"].map((from) => ({
    from,
    only: [null],
    why: "use an evaluator: evaluator=path#export",
  })),
  ...["custom_reward_function.*", "reward_manager.*", "reward_model.*", "reward.*"].map((from) => ({
    from,
    idle: scored,
  })),
  { from: "critic.cliprange_value", to: "algorithm.estimator.value_clip" },
  { from: "critic.*", idle: ownCritic },
  ...["ray_kwargs.*", "ray_init.*"].map((from) => ({
    from,
    idle: "verl.ray_address and verl.launcher say how Ray is reached",
  })),
  ...["global_profiler.*", "profiler.*", "transfer_queue.*", "prometheus.*"].map((from) => ({
    from,
    idle: "it concerns verl's own trainer, which is not used",
    usual: [false],
  })),
];

export const verlKeys: readonly CompatKey[] = [
  ...algorithmKeys,
  ...rewardKeys,
  ...trainerKeys,
  ...dataKeys,
];
