/** Metrics of the training loop: speed, progress, asynchronous training, validation. Data only. */

export const loopMetrics = [
  {
    title: "Speed",
    about: "Those under `time/` and `tokens/per_s` depend on the clock.",
    entries: [
      {
        names: ["tokens/sampled"],
        unit: "tokens",
        meaning: "Tokens sampled in the rollouts of the step.",
      },
      {
        names: ["tokens/per_s"],
        unit: "tokens per second",
        meaning: "Tokens sampled per second of rollouts; asynchronously, per second of the step.",
      },
      {
        names: ["engine/sampled_tokens"],
        unit: "tokens",
        meaning: "Tokens that the backend sampled, discarded rollouts included.",
        backends: ["local", "tinker", "fireworks"],
      },
      {
        names: ["engine/quantization_kl"],
        unit: "nats",
        meaning:
          "KL divergence per token of the quantized base from the model as published (k3), measured at the start on text that it sampled.",
        when: "`model.quantization` is not none",
        backends: ["local"],
      },
      {
        names: ["engine/quantization_ess_fraction"],
        unit: "fraction",
        meaning:
          "Effective sample size of the importance weights between the quantized base and the model as published, measured at the start.",
        when: "`model.quantization` is not none",
        backends: ["local"],
      },
      {
        names: ["engine/prompt_tokens"],
        unit: "tokens",
        meaning: "Tokens of the prompts that were sent for sampling, as the service counts them.",
        backends: ["fireworks"],
      },
      {
        names: ["engine/trained_tokens"],
        unit: "tokens",
        meaning: "Tokens of the sequences in forward passes, with and without gradients.",
        backends: ["fireworks"],
      },
      {
        names: ["engine/{name}", "train/{name}"],
        unit: "number",
        meaning: "A metric that a custom backend reports, of its sampling or of an update.",
        when: "the backend reports it",
        backends: ["custom"],
      },
      {
        names: ["time/step_s"],
        unit: "seconds",
        meaning: "Duration of the step.",
      },
      {
        names: ["time/update_s"],
        unit: "seconds",
        meaning: "Duration of the update; synchronously, with the weight sync.",
      },
      {
        names: ["time/rollout_s"],
        unit: "seconds",
        meaning: "Duration of the rollouts.",
        when: "synchronous",
      },
      {
        names: ["time/engine_busy_s"],
        unit: "seconds",
        meaning: "Time during which the engine was computing.",
        backends: ["local"],
      },
      {
        names: ["time/outside_engine_fraction"],
        unit: "fraction",
        meaning: "Time of the step during which the engine was not computing.",
        backends: ["local"],
      },
      {
        names: ["time/episode/flow_s", "time/episode/evaluator_s", "time/episode/setup_s"],
        unit: "seconds",
        meaning: "Mean duration per rollout of the agent, the evaluator and the setup hook.",
        when: "it ran",
      },
      {
        names: ["time/episode/group_evaluator_s"],
        unit: "seconds",
        meaning: "Mean duration of scoring the rollouts of a task together.",
        when: "`group_evaluator` is set",
      },
    ],
  },
  {
    title: "Progress",
    entries: [
      {
        names: ["progress/step"],
        unit: "count",
        meaning: "The step, from 1.",
      },
      {
        names: ["progress/epoch"],
        unit: "count",
        meaning: "The pass over the training data.",
      },
      {
        names: ["progress/done_fraction"],
        unit: "fraction",
        meaning: "The step as a fraction of all steps of the run.",
      },
      {
        names: ["progress/lr"],
        unit: "number",
        meaning: "Learning rate.",
      },
      {
        names: ["weight_version"],
        unit: "count",
        meaning: "Version of the served weights after the step.",
      },
    ],
  },
  {
    title: "Spending",
    about:
      "Of the whole run so far, validations included; a resumed run adds to what it had spent.",
    entries: [
      {
        names: ["spent/tokens"],
        unit: "tokens",
        meaning: "All tokens: the sum of the three below.",
        when: "a limit of `budget` is set, or prices are known",
      },
      {
        names: ["spent/prompt_tokens", "spent/sampled_tokens", "spent/trained_tokens"],
        unit: "tokens",
        meaning:
          "Tokens of prompts, tokens that were sampled, and tokens of sequences in forward passes of training.",
        when: "a limit of `budget` is set, or prices are known",
      },
      {
        names: ["spent/usd"],
        unit: "US dollars",
        meaning:
          "What that costs; with hardware that is paid by the hour, it depends on the clock.",
        when: "prices are known",
      },
      {
        names: ["time/spent_s"],
        unit: "seconds",
        meaning: "Time on the clock of all processes of the run.",
        when: "`budget.minutes`",
      },
    ],
  },
  {
    title: "Asynchronous training",
    entries: [
      {
        names: ["async/staleness_max", "async/staleness_mean"],
        unit: "mean count",
        meaning: "By how many weight syncs the oldest token of a row was behind.",
        when: "`async_training.enable`",
      },
      {
        names: ["async/ready_tasks", "async/running_tasks", "async/running_rollouts"],
        unit: "count",
        meaning: "Tasks that are ready, tasks and rollouts in flight, at the end of the step.",
        when: "`async_training.enable`",
      },
      {
        names: ["async/dropped_failed"],
        unit: "count",
        meaning: "Tasks whose rollouts all failed without a score.",
        when: "`async_training.enable`",
      },
      {
        names: ["time/wait_s"],
        unit: "seconds",
        meaning: "Time for which the step waited for rollouts.",
        when: "`async_training.enable`",
      },
      {
        names: ["time/wait_fraction"],
        unit: "fraction",
        meaning: "The same as a fraction of the step; near 0, training is the bottleneck.",
        when: "`async_training.enable`",
      },
      {
        names: ["time/weight_sync_s"],
        unit: "seconds",
        meaning: "Duration of the weight sync; 0 in steps without one.",
        when: "`async_training.enable`",
      },
    ],
  },
  {
    title: "Validation",
    about: "In lines with the phase `validation`.",
    entries: [
      {
        names: ["val/reward/mean"],
        unit: "reward",
        meaning: "Mean reward of all rollouts; failed ones have `rollout.failure_reward`.",
        when: "a rollout has a reward",
      },
      {
        names: ["val/pass@{k}"],
        unit: "fraction",
        meaning:
          "Estimated fraction of tasks with a correct rollout among k, for k from 1 to `rollout.n_val`; failed rollouts count as incorrect.",
        when: "the evaluator or the agent reports correctness",
      },
      {
        names: ["val/{source}/reward/mean", "val/{source}/pass@{k}", "val/{source}/episodes"],
        unit: "number",
        meaning: "The same for tasks whose `metadata.data_source` is this one.",
        when: "tasks have a data source",
      },
      {
        names: ["val/episodes", "val/failed"],
        unit: "count",
        meaning: "Rollouts of the validation; those that failed.",
      },
      {
        names: ["val/episode/{name}"],
        unit: "number",
        meaning: "As `episode/...`, for the rollouts of the validation.",
      },
      {
        names: ["time/validation_s"],
        unit: "seconds",
        meaning: "Duration of the validation.",
      },
      {
        names: ["time/val/episode/{name}"],
        unit: "seconds",
        meaning: "As `time/episode/...`, for the rollouts of the validation.",
      },
    ],
  },
] as const;
