/** Metrics of rollouts and their rewards. Data only. */

export const rolloutMetrics = [
  {
    title: "Rewards and advantages",
    entries: [
      {
        names: ["reward/mean", "reward/std"],
        unit: "reward",
        meaning:
          "Training rewards, one per rollout: the mean if [several trajectories](your-agent.md#several-roles) have rewards, `rollout.failure_reward` if the agent caused the rollout to fail.",
        when: "a rollout has a reward",
      },
      {
        names: [
          "reward/{role}/mean",
          "reward/{role}/std",
          "reward/{role}/max",
          "reward/{role}/min",
        ],
        unit: "reward",
        meaning: "Rewards of a role as they are compared, after shaping; uniform groups included.",
        when: "the role has a group",
      },
      {
        names: [
          "advantage/{role}/mean",
          "advantage/{role}/std",
          "advantage/{role}/max",
          "advantage/{role}/min",
        ],
        unit: "advantage",
        meaning:
          "Advantages of a role, before uniform groups are dropped; precomputed ones per sampled token.",
        when: "the role has a group",
      },
      {
        names: ["advantage/{role}/zero_fraction"],
        unit: "fraction",
        meaning: "Advantages of a role that are 0.",
        when: "the role has an estimated group",
      },
      {
        names: ["signals/{role}/{signal}/mean", "signals/{role}/{signal}/std"],
        unit: "reward",
        meaning: "A signal that is normalized apart, over the rollouts of the role that have it.",
        when: "`algorithm.estimator=gdpo`, a rollout has the signal",
      },
      {
        names: ["signals/{role}/{signal}/informative_fraction"],
        unit: "fraction",
        meaning: "Groups in which the signal differs, of those in which at least two have it.",
        when: "`algorithm.estimator=gdpo`, a rollout has the signal",
      },
      {
        names: ["signals/{role}/{signal}/missing"],
        unit: "count",
        meaning: "Rollouts without the signal, whose advantages it is not part of.",
        when: "`algorithm.estimator=gdpo`",
      },
      {
        names: ["advantage/precomputed_groups", "advantage/precomputed_ignored"],
        unit: "count",
        meaning:
          "Groups with advantages from the flow; those that were ignored because `algorithm.use_precomputed_advantage` is off.",
        when: "the flow reports advantages",
      },
      {
        names: ["source/{source}/reward_mean", "source/{source}/pass@1"],
        unit: "number",
        meaning:
          "Training rewards, and correct rollouts, of tasks whose `metadata.data_source` is this one.",
        when: "tasks have a data source, and the rollouts a reward; correctness is reported",
      },
      {
        names: [
          "source/{source}/tasks",
          "source/{source}/failed",
          "source/{source}/sampled_tokens",
        ],
        unit: "count",
        meaning:
          "Tasks of the step from this source, rollouts of them that failed, and tokens sampled in them.",
        when: "tasks have a data source",
      },
      {
        names: ["shaping/overlong_penalty"],
        unit: "reward",
        meaning: "Mean of what the overlong penalty adds to a reward; at most 0.",
        when: "`algorithm.overlong_buffer`",
      },
      {
        names: ["shaping/overlong_fraction"],
        unit: "fraction",
        meaning: "Responses that were penalized for their length.",
        when: "`algorithm.overlong_buffer`",
      },
      {
        names: ["shaping/reward_kl_penalty"],
        unit: "nats",
        meaning: "KL to the reference model per token: mean over rows of the mean over tokens.",
        when: "`algorithm.use_kl_in_reward`",
      },
      {
        names: ["shaping/reward_kl_penalty_coeff"],
        unit: "number",
        meaning: "The coefficient that this KL is multiplied by.",
        when: "`algorithm.use_kl_in_reward`",
      },
    ],
  },
  {
    title: "Rollouts",
    entries: [
      {
        names: ["rollout/pass@1"],
        unit: "fraction",
        meaning: "Rollouts that were correct; failed ones count as incorrect.",
        when: "the evaluator or the agent reports correctness",
      },
      {
        names: ["rollout/episodes"],
        unit: "count",
        meaning: "Rollouts of the step.",
      },
      {
        names: ["rollout/failed"],
        unit: "count",
        meaning: "Rollouts that [failed](your-agent.md#what-happens-to-failures).",
      },
      {
        names: ["rollout/canceled"],
        unit: "count",
        meaning: "Rollouts that were canceled because too many others failed.",
      },
      {
        names: ["rollout/retries"],
        unit: "count",
        meaning: "Attempts beyond the first.",
      },
      {
        names: ["rollout/unused"],
        unit: "count",
        meaning:
          "Rollouts of which at least one model call is not in the update, for any reason, and those without calls.",
      },
      {
        names: ["rollout/unused_calls"],
        unit: "count",
        meaning: "Model calls that are not in the update; choices of one call count once.",
      },
      {
        names: ["rollout/termination_fraction/{reason}"],
        unit: "fraction",
        meaning: "Rollouts with this termination reason.",
        when: "a rollout has it",
      },
      {
        names: ["episode/turns"],
        unit: "mean count",
        meaning: "Model calls per rollout.",
      },
      {
        names: ["episode/tokens/prompt", "episode/tokens/response"],
        unit: "tokens",
        meaning: "Mean per rollout, over calls that can be trained on.",
      },
      {
        names: ["episode/truncated"],
        unit: "fraction",
        meaning: "Rollouts with a response truncated by `max_tokens`.",
      },
      {
        names: ["episode/calls/failed"],
        unit: "mean count",
        meaning:
          "Calls per rollout that ended in an error or were cut, and that the agent did not repeat with success.",
      },
      {
        names: ["episode/calls/untrainable"],
        unit: "mean count",
        meaning: "Calls per rollout that the gateway marked as not trainable.",
      },
      {
        names: ["episode/calls/unattributed"],
        unit: "mean count",
        meaning: "Calls per rollout that belong to no trajectory.",
      },
      {
        names: ["episode/calls/unused_choices", "episode/calls/undecided_choices"],
        unit: "mean count",
        meaning:
          "Choices of calls with n > 1 that are not trained on; calls with n > 1 for which the choice that was used is unknown.",
      },
      {
        names: ["episode/calls/malformed"],
        unit: "mean count",
        meaning:
          "Calls per rollout with a tool call that could not be read, or has what its tool does not take.",
      },
      {
        names: ["episode/text/empty", "episode/text/garbled", "episode/text/repeated"],
        unit: "fraction",
        meaning:
          "Rollouts with a response that has neither text nor a tool call; with one that is unreadable (more than 1 in 20 characters, or scripts mixed within words); with one that ends in a loop or mostly repeats itself.",
      },
      {
        names: ["episode/tools/results", "episode/tools/errors"],
        unit: "mean count",
        meaning: "Results of tools per rollout that the model saw; those that report an error.",
      },
      {
        names: ["episode/weight_version"],
        unit: "mean count",
        meaning: "Version of the weights that sampled, mean over the calls of a rollout.",
        when: "the gateway knows it",
      },
      {
        names: ["episode/rollout_reward", "episode/evaluator_reward"],
        unit: "reward",
        meaning: "Mean of the reward that is not used for training, see `rollout.reward_source`.",
        when: "both the rollout and the evaluator scored, or a group evaluator and one of the two",
      },
      {
        names: ["episode/signal/{name}"],
        unit: "number",
        meaning: "Mean of an evaluator's signal.",
        when: "the evaluator returns it",
      },
      {
        names: ["episode/{name}"],
        unit: "number",
        meaning: "Mean of a custom metric of the rollouts that have it.",
        when: "a report or a workflow has it",
      },
    ],
  },
] as const;
