/** Metrics of the update: losses, ratios and rollout correction. Data only. */

export const updateMetrics = [
  {
    title: "Update",
    about:
      "Means over trained tokens and over the updates of the step, unless stated otherwise. r is the loss's ratio exp(l − o) of a token, from its log-probability before the update and the one when it was sampled; with rollout correction and another type than `none`, the one at the start of the step.",
    entries: [
      {
        names: ["train/loss"],
        unit: "number",
        meaning: "The loss.",
        when: "an update was made, and the server returns it",
      },
      {
        names: ["train/grad_norm"],
        unit: "norm",
        meaning: "Norm of the gradient before clipping.",
        when: "an update was made",
        backends: ["local", "verl", "tinker and fireworks (if the server returns it)"],
      },
      {
        names: ["train/tokens"],
        unit: "tokens",
        meaning: "Trained tokens, summed over the updates.",
        when: "an update was made",
      },
      {
        names: ["train/sampled_nll"],
        unit: "nats",
        meaning:
          "Mean of −logprob of the sampled tokens, as sampled: an estimate of the entropy of the policy that sampled.",
        when: "an update was made",
      },
      {
        names: ["train/entropy"],
        unit: "nats",
        meaning: "Entropy of the full distribution at each trained token.",
        when: "`algorithm.entropy_coef` is not 0",
        backends: ["local", "verl"],
      },
      {
        names: ["train/kl_k1", "train/kl_k3"],
        unit: "nats",
        meaning:
          "Estimates of KL(sampler, trainer): −log r; r − 1 − log r, which is never negative.",
        when: "an update was made",
      },
      {
        names: ["train/kl_reference"],
        unit: "nats",
        meaning: "The term of the KL penalty: estimated KL to the reference model.",
        when: "`algorithm.kl_beta` above 0",
        backends: ["local", "verl"],
      },
      {
        names: ["train/logprob_abs_diff_mean"],
        unit: "logprob",
        meaning: "|log r|: near 0 where sampler and trainer compute the same numbers.",
        when: "an update was made",
      },
      {
        names: ["train/ratio_mean", "train/ratio_max", "train/ratio_min"],
        unit: "ratio",
        meaning: "r; its extremes over the whole step.",
        when: "an update was made",
      },
      {
        names: ["train/ess_fraction"],
        unit: "fraction",
        meaning: "Effective sample size as a fraction of tokens, (mean r)² / mean r².",
        when: "an update was made",
      },
      {
        names: ["train/chi2"],
        unit: "number",
        meaning: "χ² divergence, mean r² − 1.",
        when: "an update was made",
      },
      {
        names: ["train/clip_fraction"],
        unit: "fraction",
        meaning: "Tokens whose ratio was clipped.",
        when: "the loss clips",
      },
      {
        names: ["train/observation_loss"],
        unit: "nats",
        meaning:
          "Mean cross-entropy of the observed tokens, without their weights. It falls as the model learns what the environment answers.",
        when: "`algorithm.observation_loss`, an update has observed tokens",
        backends: ["local"],
      },
      {
        names: ["train/observation_tokens"],
        unit: "tokens",
        meaning: "Observed tokens, whose cross-entropy is part of the loss.",
        when: "`algorithm.observation_loss`, an update has observed tokens",
        backends: ["local"],
      },
      {
        names: ["train/adapters/{adapter}/{name}"],
        unit: "number",
        meaning:
          "The metric `train/{name}` of one adapter: of the update with its rows alone. The adapter of roles that name none is `default`.",
        when: "`model.adapter_by_role`, an update has rows of the adapter",
        backends: ["local", "tinker"],
      },
      {
        names: ["train/updates", "train/skipped_updates"],
        unit: "count",
        meaning: "Optimizer steps; those that were skipped because a number was not finite.",
      },
      {
        names: ["train/limit_exceeded"],
        unit: "0 or 1",
        meaning: "1 if a metric was beyond a limit under `guards`.",
      },
      {
        names: ["train/skipped_steps"],
        unit: "0 or 1",
        meaning: "1 if the step made no update.",
      },
      {
        names: ["train/skip_reason/{reason}"],
        unit: "0 or 1",
        meaning:
          "1 if the step taught the model nothing: `equal_rewards`, `failed` (every rollout), `prompt_too_long` (every rollout ended because a prompt did not fit), `nothing_captured`, `no_reward`, `excluded` (everything was excluded by options), `no_tasks` (rejection sampling left none), `not_finite`.",
        when: "the step taught nothing",
      },
      {
        names: ["train/zero_advantages"],
        unit: "0 or 1",
        meaning:
          "1 if all advantages of the update were 0, so that only a custom loss, a penalty or observations can have taught something.",
        when: "they were, and the step is not counted as having taught nothing",
      },
      {
        names: ["train/server/{name}"],
        unit: "number",
        meaning: "A metric that the Tinker server or Fireworks returns, under its own name.",
        when: "the server returns it",
        backends: ["tinker", "fireworks"],
      },
      {
        names: ["train/ranks/rows", "train/ranks/imbalance"],
        unit: "number",
        meaning:
          "Rows of a data-parallel rank; the load of the busiest rank over the mean, 1 if balanced.",
        when: "an update was made",
        backends: ["verl"],
      },
      {
        names: ["train/lr", "train/mfu", "train/verl/{name}"],
        unit: "number",
        meaning: "Metrics of verl's engine, those without a name here under `verl/`.",
        when: "verl returns it",
        backends: ["verl"],
      },
    ],
  },
  {
    title: "Critic",
    about:
      "With `algorithm.estimator.type=gae`: values of sampled tokens before the update, and their returns. Names under `train/` are of the update.",
    entries: [
      {
        names: ["critic/explained_variance"],
        unit: "number",
        meaning:
          "1 − Var(returns − values) / Var(returns): 1 for a critic that knows every return, 0 for one that knows no more than their mean, below 0 for a worse one.",
        when: "`algorithm.estimator.type=gae`, and returns differ",
      },
      {
        names: [
          "critic/values/mean",
          "critic/values/std",
          "critic/values/max",
          "critic/values/min",
          "critic/returns/mean",
          "critic/returns/std",
          "critic/returns/max",
          "critic/returns/min",
        ],
        unit: "reward",
        meaning: "What the critic gave, and what it learns to give, over sampled tokens.",
        when: "`algorithm.estimator.type=gae`",
      },
      {
        names: ["train/value_loss"],
        unit: "number",
        meaning: "Half of the squared error of values, clipped; mean per token.",
        when: "`algorithm.estimator.type=gae`, an update was made",
        backends: ["local", "verl"],
      },
      {
        names: ["train/value_clip_fraction"],
        unit: "fraction",
        meaning: "Tokens whose value was clipped.",
        when: "`algorithm.estimator.value_clip`, an update was made",
        backends: ["local", "verl"],
      },
      {
        names: ["train/value_grad_norm"],
        unit: "norm",
        meaning: "Norm of the critic's gradient before clipping.",
        when: "`algorithm.estimator.type=gae`, an update was made",
        backends: ["local", "verl"],
      },
      {
        names: ["train/critic_warmup"],
        unit: "0 or 1",
        meaning:
          "1 in a step in which only the critic learns; the metrics of the policy's update are missing there.",
        when: "`algorithm.estimator.critic_warmup`, during these steps",
      },
    ],
  },
  {
    title: "Rollout correction",
    about:
      "The trainer's log-probabilities o at the start of the step and those of the sampler s, with x = o − s (clamped to ±20) and r = exp(x). Names under `rollout_correction/` and of perplexities are verl's.",
    entries: [
      {
        names: ["off_policy/kl_k1", "off_policy/kl_k3"],
        unit: "nats",
        meaning: "Estimates of KL(sampler, trainer): mean of −x; mean of r − x − 1.",
        when: "rollout correction",
      },
      {
        names: ["off_policy/ratio_mean", "off_policy/ratio_max", "off_policy/ratio_min"],
        unit: "ratio",
        meaning: "r over tokens.",
        when: "rollout correction",
      },
      {
        names: ["off_policy/ess_fraction"],
        unit: "fraction",
        meaning: "(mean r)² / mean r².",
        when: "rollout correction",
      },
      {
        names: ["off_policy/chi2", "off_policy/chi2_seq"],
        unit: "number",
        meaning: "Mean r² − 1 over tokens; over rows, with the product of a row's ratios.",
        when: "rollout correction",
      },
      {
        names: [
          "off_policy/logprob_abs_diff_mean",
          "off_policy/logprob_abs_diff_max",
          "off_policy/logprob_abs_diff_min",
        ],
        unit: "logprob",
        meaning: "|x| over tokens.",
        when: "rollout correction",
      },
      {
        names: [
          "off_policy/prob_abs_diff_mean",
          "off_policy/prob_abs_diff_max",
          "off_policy/prob_abs_diff_min",
        ],
        unit: "number",
        meaning: "Difference of the probabilities, |exp(o) − exp(s)|, over tokens.",
        when: "rollout correction",
      },
      {
        names: [
          "off_policy/training_ppl",
          "off_policy/rollout_ppl",
          "off_policy/training_log_ppl",
          "off_policy/rollout_log_ppl",
        ],
        unit: "number",
        meaning:
          "Perplexity of the sampled tokens under the trainer and the sampler, and its logarithm: means over rows.",
        when: "rollout correction",
      },
      {
        names: [
          "off_policy/log_ppl_diff",
          "off_policy/log_ppl_abs_diff",
          "off_policy/log_ppl_diff_max",
          "off_policy/log_ppl_diff_min",
          "off_policy/ppl_ratio",
        ],
        unit: "number",
        meaning:
          "Logarithm of a row's perplexity under the trainer minus that under the sampler; mean of its exponential.",
        when: "rollout correction",
      },
      {
        names: [
          "rollout_correction/rollout_is_mean",
          "rollout_correction/rollout_is_std",
          "rollout_correction/rollout_is_max",
          "rollout_correction/rollout_is_min",
          "rollout_correction/rollout_is_seq_mean",
        ],
        unit: "weight",
        meaning:
          "Importance weights before normalization; `seq_mean` is the mean over rows. With `sequence`, `max` and `min` are over rows, by their ratio before the cap.",
        when: "`algorithm.rollout_correction` is `token` or `sequence`",
      },
      {
        names: ["rollout_correction/rollout_is_eff_sample_size"],
        unit: "fraction",
        meaning: "Effective sample size of the weights, as a fraction of tokens.",
        when: "`algorithm.rollout_correction` is `token` or `sequence`",
      },
      {
        names: [
          "rollout_correction/rollout_is_ratio_fraction_high",
          "rollout_correction/rollout_is_ratio_fraction_low",
        ],
        unit: "fraction",
        meaning: "Ratios above the cap, and below its inverse; with `sequence` those of rows.",
        when: "`algorithm.rollout_correction` is `token` or `sequence`",
      },
      {
        names: ["rollout_correction/rollout_rs_masked_fraction"],
        unit: "fraction",
        meaning: "Tokens that were dropped.",
        when: "`reject` or a veto",
      },
      {
        names: [
          "rollout_correction/rollout_rs_seq_masked_fraction",
          "rollout_correction/rollout_rs_seq_dropped_fraction",
        ],
        unit: "fraction",
        meaning: "Rows that lost any token; rows that lost all.",
        when: "`reject` or a veto",
      },
      {
        names: ["rollout_correction/rollout_token_veto_fraction"],
        unit: "fraction",
        meaning: "Rows that were vetoed.",
        when: "`rollout_token_veto_threshold`",
      },
    ],
  },
] as const;
