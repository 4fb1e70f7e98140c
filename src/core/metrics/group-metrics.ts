/** Metrics of groups, and of the rows that are made of them. Data only. */

export const groupMetrics = [
  {
    title: "Groups",
    about:
      "A group is the trajectories of one role at one task. With `stepwise_advantage.mode=per_step`, steps are compared, and a role's metrics count groups of steps.",
    entries: [
      {
        names: ["groups/count"],
        unit: "count",
        meaning: "Groups, before filters.",
      },
      {
        names: ["groups/size/mean", "groups/size/max", "groups/size/min"],
        unit: "mean count",
        meaning: "Trajectories per group, before filters.",
      },
      {
        names: ["groups/trajectories_before", "groups/trajectories_after"],
        unit: "count",
        meaning: "Trajectories before grouping; those in groups.",
      },
      {
        names: ["groups/dropped/{reason}"],
        unit: "count",
        meaning:
          "What is not trained on: `excluded_episodes` (failed, canceled, or by `algorithm.excluded_reasons`), `no_trainable_steps`, `untrained` (a role in `rollout.untrained_roles`, or `train: false`), `no_reward`, `invalid_reward`, `uniform_groups` and the `uniform_trajectories` in them.",
      },
      {
        names: ["groups/{role}/comparable"],
        unit: "count",
        meaning: "Groups of at least two.",
        when: "the role has an estimated group",
      },
      {
        names: ["groups/{role}/singletons"],
        unit: "count",
        meaning: "Groups of one, which have nothing to compare with.",
        when: "the role has an estimated group",
      },
      {
        names: ["groups/{role}/informative"],
        unit: "count",
        meaning: "Comparable groups whose rewards differ.",
        when: "the role has an estimated group",
      },
      {
        names: [
          "groups/{role}/informative_fraction",
          "groups/{role}/too_easy_fraction",
          "groups/{role}/too_hard_fraction",
        ],
        unit: "fraction",
        meaning:
          "Of the comparable groups: rewards differ; all equal and at least 1; all equal and at most 0.",
        when: "the role has an estimated group",
      },
      {
        names: [
          "groups/{role}/reward_mean/p10",
          "groups/{role}/reward_mean/p50",
          "groups/{role}/reward_mean/p90",
        ],
        unit: "reward",
        meaning: "Percentiles of the mean rewards of the comparable groups.",
        when: "the role has a comparable group",
      },
      {
        names: [
          "groups/{role}/reward_std/p10",
          "groups/{role}/reward_std/p50",
          "groups/{role}/reward_std/p90",
        ],
        unit: "reward",
        meaning: "Percentiles of the standard deviations of the comparable groups.",
        when: "the role has a comparable group",
      },
      {
        names: ["rejection_sample/tasks"],
        unit: "count",
        meaning: "Tasks that were rolled out.",
        when: "`rejection_sample.enable`",
      },
      {
        names: [
          "rejection_sample/all_correct_fraction",
          "rejection_sample/some_correct_fraction",
          "rejection_sample/none_correct_fraction",
        ],
        unit: "fraction",
        meaning: "Tasks of which all, some or no rollouts were correct.",
        when: "`rejection_sample.enable`, a task was rolled out",
      },
      {
        names: [
          "rejection_sample/correctness_unknown_fraction",
          "rejection_sample/too_few_scored_fraction",
        ],
        unit: "fraction",
        meaning:
          "Tasks whose correctness was not reported; those with fewer scored rollouts than `min_trajs_per_group`.",
        when: "`rejection_sample.enable`, a task was rolled out",
      },
      {
        names: ["rejection_sample/equal_rewards_fraction"],
        unit: "fraction",
        meaning: "Tasks whose rollouts teach nothing: advantages are all 0, as with equal rewards.",
        when: "`rejection_sample.enable`, a task was rolled out",
      },
      {
        names: ["rejection_sample/batches", "rejection_sample/waiting_tasks"],
        unit: "count",
        meaning: "Batches rolled out for the step; surplus tasks buffered for the next one.",
        when: "`rejection_sample.enable`, synchronous",
      },
      {
        names: ["curriculum/solved_fraction"],
        unit: "fraction",
        meaning:
          "Mean of the estimated solve rates of the tasks, or groups of tasks, that were rolled out.",
        when: "`data.curriculum=solve_rate`",
      },
      {
        names: ["curriculum/always_solved_fraction", "curriculum/never_solved_fraction"],
        unit: "fraction",
        meaning: "Those of them whose estimate is above 0.9, and below 0.1.",
        when: "`data.curriculum=solve_rate`",
      },
      {
        names: ["curriculum/seen_fraction"],
        unit: "fraction",
        meaning: "Tasks, or groups of tasks, that were rolled out so far.",
        when: "`data.curriculum=solve_rate`",
      },
      {
        names: ["curriculum/informative_fraction"],
        unit: "fraction",
        meaning: "Of the tasks rolled out since the last step, those solved by some attempts only.",
        when: "`data.curriculum=solve_rate`, a task was rolled out",
      },
      {
        names: ["replay/used_tasks", "replay/kept_tasks"],
        unit: "count",
        meaning: "Tasks of earlier steps that were trained on again; those in the buffer.",
        when: "`replay.tasks` above 0",
      },
      {
        names: ["replay/age_mean"],
        unit: "mean count",
        meaning: "Steps since the replayed tasks were rolled out.",
        when: "a task was replayed",
      },
    ],
  },
  {
    title: "Rows",
    about:
      "A row is a lineage of a trajectory: calls that continue each other, merged where ids prove it.",
    entries: [
      {
        names: ["rows/count", "rows/steps"],
        unit: "count",
        meaning: "Training rows; the calls in them.",
      },
      {
        names: ["rows/tokens", "rows/trained_tokens"],
        unit: "tokens",
        meaning: "Tokens of the rows; those that are trained on.",
      },
      {
        names: ["rows/steps_per_row"],
        unit: "mean count",
        meaning: "Calls per row.",
      },
      {
        names: [
          "rows/per_trajectory/mean",
          "rows/per_trajectory/std",
          "rows/per_trajectory/max",
          "rows/per_trajectory/min",
        ],
        unit: "mean count",
        meaning: "Rows per trajectory.",
        when: "there is a row",
      },
      {
        names: [
          "rows/response_length/mean",
          "rows/response_length/std",
          "rows/response_length/max",
          "rows/response_length/min",
        ],
        unit: "tokens",
        meaning: "Tokens of a row from the first sampled one on.",
        when: "there is a row",
      },
      {
        names: [
          "rows/sampled_fraction/mean",
          "rows/sampled_fraction/std",
          "rows/sampled_fraction/max",
          "rows/sampled_fraction/min",
        ],
        unit: "fraction",
        meaning: "Of those tokens, the ones that were sampled.",
        when: "there is a row",
      },
      {
        names: ["rows/breaks/{reason}"],
        unit: "count",
        meaning:
          "Turns that started a new row: `prompt_changed`, `response_changed`, `branched`, `prompt_shorter`, `temperature_changed`, or where a call before was dropped.",
      },
      {
        names: ["rows/observed_tokens"],
        unit: "tokens",
        meaning: "Tokens of what the environment answered, which the loss has a term for.",
        when: "`algorithm.observation_loss`",
      },
      {
        names: ["rows/unmatched_observations"],
        unit: "count",
        meaning:
          "Prompts whose new messages are not learned from, because the renderer writes them in another way than they were sent to the model.",
        when: "`algorithm.observation_loss`",
      },
      {
        names: [
          "lineages/per_rollout/mean",
          "lineages/per_rollout/std",
          "lineages/per_rollout/max",
          "lineages/per_rollout/min",
        ],
        unit: "mean count",
        meaning:
          "Lineages per rollout, over all its trajectories: more than one after compaction, a fork, or a sub-agent.",
        when: "there is a row",
      },
      {
        names: ["lineages/summary_fraction", "lineages/sub_agent_fraction"],
        unit: "fraction",
        meaning:
          "Trained tokens in summaries (calls whose text begins a later lineage) and in sub-agents (lineages that a tool call asked for), as far as what was captured tells.",
      },
      {
        names: ["rows/dropped/{reason}"],
        unit: "count",
        meaning: "Calls that could not be trained on.",
      },
    ],
  },
] as const;
