/** Keys of rLLM's configuration that are for Fireworks. */
import type { CompatKey } from "./key-kinds.ts";

export const fireworksKeys: readonly CompatKey[] = [
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
  {
    from: "fireworks_config.*",
    idle: "model.name, model.lora_rank and the options of fireworks determine it",
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
];
