/**
 * Every option, as code reads it and as editors show it. Generated from `schema/` by
 * `npm run schema`; do not edit. Files and `key=value` lists have the same names in snake_case.
 */

/** The options of a run, checked, every default filled in. */
export interface TrainConfig {
  readonly model: {
    /**
     * The policy: a folder, the folder of a run (its newest checkpoint), a .gguf file, OWNER/NAME
     * on a hub, or builtin:shop-tiny; of these, what the backend knows.
     * Allowed: a string that is not empty.
     */
    readonly name: string;
    /**
     * Rank of the LoRA adapters; 0 trains every weight.
     * Allowed: a whole number of at least 0.
     * @default 0
     */
    readonly loraRank: number;
    /**
     * LoRA updates are scaled by lora_alpha / lora_rank.
     * Allowed: a number above 0.
     * @default 32
     */
    readonly loraAlpha: number;
  };
  readonly data: {
    /**
     * Tasks per optimizer step.
     * Allowed: a whole number of at least 1.
     * @default 16
     */
    readonly trainBatchSize: number;
    /**
     * Validation tasks that run at a time; -1 is all of them.
     * Allowed: -1, or a whole number of at least 1.
     * @default -1
     */
    readonly valBatchSize: number;
    /**
     * Most tokens of a prompt; a longer one ends its rollout. null is the model's context.
     * Allowed: a whole number of at least 1, or null.
     * @default null
     */
    readonly maxPromptLength: number | null;
    /**
     * Seed of the order of tasks; null uses trainer.seed.
     * Allowed: a whole number of at least 0, or null.
     * @default null
     */
    readonly seed: number | null;
    /**
     * Order of the tasks of an epoch: shuffled, or by difficulty and shuffled where equal.
     * Allowed: one of none, easy_first, hard_first.
     * @default "none"
     */
    readonly curriculum: "none" | "easy_first" | "hard_first";
    /**
     * Where a task's metadata holds its difficulty, a number; larger is harder.
     * Allowed: a string that is not empty.
     * @default "difficulty"
     */
    readonly difficultyKey: string;
  };
  readonly rollout: {
    /**
     * Rollouts of each task in a step; they are compared with each other.
     * Allowed: a whole number of at least 1.
     * @default 8
     */
    readonly n: number;
    /**
     * Rollouts of each task in a validation.
     * Allowed: a whole number of at least 1.
     * @default 1
     */
    readonly nVal: number;
    /**
     * Roles that are sampled and scored, but not trained.
     * Allowed: a list of trajectory names.
     * @default []
     */
    readonly untrainedRoles: readonly string[];
    /**
     * Which reward trains where an evaluator scores rollouts that give rewards themselves, as
     * workflows and environments do.
     * Allowed: one of evaluator, rollout.
     * @default "evaluator"
     */
    readonly rewardSource: "evaluator" | "rollout";
    /**
     * A rollout that is scored with a plain number is right from this reward on; null takes at
     * least 1 as right, at most 0 as wrong, and says nothing of what lies between.
     * Allowed: a number, or null.
     * @default null
     */
    readonly solvedReward: number | null;
    /**
     * Reward of a rollout in which the agent threw or ran out of time; set it to the evaluator's
     * lowest.
     * Allowed: a number.
     * @default 0
     */
    readonly failureReward: number;
    /**
     * In training, sample anew after what the agent threw or did too late, and leave out what still
     * fails, instead of scoring it with failure_reward.
     * Allowed: true or false.
     * @default false
     */
    readonly retryAgentErrors: boolean;
    readonly train: {
      /**
       * Sampling temperature; 0 is greedy.
       * Allowed: a number of at least 0 and at most 10.
       * @default 1
       */
      readonly temperature: number;
      /**
       * Nucleus mass; 1 is off.
       * Allowed: a number above 0 and at most 1.
       * @default 1
       */
      readonly topP: number;
      /**
       * Keep the k likeliest tokens; 0 is off.
       * Allowed: a whole number of at least 0.
       * @default 0
       */
      readonly topK: number;
      /**
       * Keep tokens at least this likely relative to the likeliest; 0 is off.
       * Allowed: a number of at least 0 and at most 1.
       * @default 0
       */
      readonly minP: number;
      /**
       * Most tokens that one model call may draw.
       * Allowed: a whole number of at least 1.
       * @default 512
       */
      readonly maxTokens: number;
    };
    readonly val: {
      /**
       * Sampling temperature of validations; 0 is greedy.
       * Allowed: a number of at least 0 and at most 10.
       * @default 1
       */
      readonly temperature: number;
      /**
       * Nucleus mass of validations; 1 is off, null is rollout.train.top_p.
       * Allowed: a number above 0 and at most 1, or null.
       * @default null
       */
      readonly topP: number;
      /**
       * Top-k of validations; 0 is off, null is rollout.train.top_k.
       * Allowed: a whole number of at least 0, or null.
       * @default null
       */
      readonly topK: number;
      /**
       * Min-p of validations; 0 is off, null is rollout.train.min_p.
       * Allowed: a number of at least 0 and at most 1, or null.
       * @default null
       */
      readonly minP: number;
      /**
       * Most tokens that one model call of a validation may sample; null is
       * rollout.train.max_tokens.
       * Allowed: a whole number of at least 1, or null.
       * @default null
       */
      readonly maxTokens: number;
    };
  };
  readonly algorithm: {
    /**
     * How rewards of a group become advantages.
     * Allowed: one of grpo, reinforce, rloo, reinforce_plus_plus, reinforce_plus_plus_baseline,
     * prpo, opo, gpg, maxrl, grpo_passk, or path#export of a function.
     * @default "grpo"
     */
    readonly advEstimator:
      | "grpo"
      | "reinforce"
      | "rloo"
      | "reinforce_plus_plus"
      | "reinforce_plus_plus_baseline"
      | "prpo"
      | "opo"
      | "gpg"
      | "maxrl"
      | "grpo_passk"
      | "gae"
      | `${string}#${string}`;
    /**
     * GRPO divides by the group's standard deviation; false is Dr. GRPO.
     * Allowed: true or false.
     * @default true
     */
    readonly normAdvByStdInGrpo: boolean;
    /**
     * Estimators of single roles, over adv_estimator.
     * Allowed: a map of roles to estimators, or a list of role=estimator.
     * @default []
     */
    readonly estimatorMap: readonly string[];
    /**
     * The policy loss.
     * Allowed: one of importance_sampling, ppo, cispo, gspo, gmpo, sapo, dro, cross_entropy, or
     * path#export of a function.
     * @default "ppo"
     */
    readonly lossFn:
      | "importance_sampling"
      | "ppo"
      | "cispo"
      | "gspo"
      | "gmpo"
      | "sapo"
      | "dro"
      | "cross_entropy"
      | `${string}#${string}`;
    /**
     * Losses of single roles, over loss_fn.
     * Allowed: a map of roles to losses, or a list of role=loss.
     * @default []
     */
    readonly lossFnMap: readonly string[];
    /**
     * How token losses become one number.
     * Allowed: one of token-mean, token-sum, seq-mean-token-sum, seq-mean-token-mean,
     * seq-mean-token-sum-norm.
     * @default "token-mean"
     */
    readonly lossAggMode:
      | "token-mean"
      | "token-sum"
      | "seq-mean-token-sum"
      | "seq-mean-token-mean"
      | "seq-mean-token-sum-norm";
    /**
     * The constant length that loss_agg_mode=seq-mean-token-sum-norm divides by, as Dr. GRPO does
     * with the longest response allowed; null is the longest trained stretch of each mini-batch,
     * where verl takes the padded width.
     * Allowed: a number above 0, or null.
     * @default null
     */
    readonly lossScaleFactor: number | null;
    /**
     * Losses with a clip limit probability ratios below 1 - eps_clip; null is the loss's own
     * default: 0.2, and 3e-4 for gspo.
     * Allowed: a number of at least 0 and at most 1, or null.
     * @default null
     */
    readonly epsClip: number | null;
    /**
     * Losses with a clip limit probability ratios above 1 + eps_clip_high; null uses eps_clip, and
     * where that is null the loss's own default: 0.2, and 4e-4 for gspo.
     * Allowed: a number of at least 0 and at most 10, or null.
     * @default null
     */
    readonly epsClipHigh: number | null;
    /**
     * Dual clip: a token with a negative advantage A loses at most clip_ratio_c times its size;
     * null is off. For ppo.
     * Allowed: a number above 1, or null.
     * @default null
     */
    readonly clipRatioC: number | null;
    /**
     * Strength of the quadratic penalty in the loss dro.
     * Allowed: a number above 0.
     * @default 0.05
     */
    readonly droBeta: number;
    /**
     * Temperature of the gate in the loss sapo for tokens with a positive advantage.
     * Allowed: a number above 0.
     * @default 1
     */
    readonly sapoTauPos: number;
    /**
     * Temperature of the gate in the loss sapo for tokens with a negative advantage.
     * Allowed: a number above 0.
     * @default 1.05
     */
    readonly sapoTauNeg: number;
    /**
     * Which policy is trained when rollout.train.temperature is not 1: sampling is the one that
     * samples, softmax(logits / temperature), as verl and TRL do; one is the policy at temperature
     * 1, whose log-probabilities are not those of what was sampled.
     * Allowed: one of sampling, one.
     * @default "sampling"
     */
    readonly logprobTemperature: "sampling" | "one";
    /**
     * Weight of the KL penalty against the model as it was loaded; 0 is off.
     * Allowed: a number of at least 0.
     * @default 0
     */
    readonly klBeta: number;
    /**
     * How the KL penalty is estimated from sampled tokens.
     * Allowed: one of k1, k2, k3.
     * @default "k3"
     */
    readonly klEstimator: "k1" | "k2" | "k3";
    /**
     * Weight of the bonus for the policy's entropy; 0 is off.
     * Allowed: a number of at least 0.
     * @default 0
     */
    readonly entropyCoef: number;
    /**
     * Do not train on groups whose rewards are all equal; they still count in what an estimator
     * takes from all groups. Null does so where the estimator compares within groups, as those of
     * reinforce, reinforce_plus_plus and prpo do not.
     * Allowed: true or false, or null.
     * @default null
     */
    readonly filterUniformGroups: boolean | null;
    /**
     * Use the advantages that flows report with their steps; groups without any are estimated.
     * Allowed: true or false.
     * @default false
     */
    readonly usePrecomputedAdvantage: boolean;
    /**
     * Take the distance to the model as it was loaded off each reward.
     * Allowed: true or false.
     * @default false
     */
    readonly useKlInReward: boolean;
    /**
     * How use_kl_in_reward estimates the distance.
     * Allowed: one of k1, k2, k3.
     * @default "k1"
     */
    readonly klPenalty: "k1" | "k2" | "k3";
    readonly klCtrl: {
      /**
       * Weight of use_kl_in_reward.
       * Allowed: a number of at least 0.
       * @default 0.001
       */
      readonly klCoef: number;
    };
    readonly overlongBuffer: {
      /**
       * Take something off the reward of answers that come near their limit (DAPO).
       * Allowed: true or false.
       * @default false
       */
      readonly enable: boolean;
      /**
       * Tokens before the limit from which on it grows.
       * Allowed: a whole number of at least 1.
       * @default 128
       */
      readonly len: number;
      /**
       * What it is at the limit.
       * Allowed: a number of at least 0.
       * @default 1
       */
      readonly penaltyFactor: number;
      /**
       * The limit in tokens of one answer; null is rollout.train.max_tokens.
       * Allowed: a whole number of at least 1, or null.
       * @default null
       */
      readonly maxLength: number | null;
    };
    /**
     * Do not train trajectories with an answer that was cut; they still count as members of their
     * group.
     * Allowed: true or false.
     * @default false
     */
    readonly maskTruncatedSamples: boolean;
    readonly rolloutCorrection: {
      /**
       * Ratios of the loss are taken to what sampled (true), or to the trainer's own weights at the
       * start of the step, computed anew (false); null is false where tis_mode is set.
       * Allowed: true or false, or null.
       * @default null
       */
      readonly bypassMode: boolean | null;
      /**
       * Weigh the loss by how much likelier the trainer finds a token, or the whole row, than what
       * sampled did; null is off.
       * Allowed: one of token, sequence, or null.
       * @default null
       */
      readonly tisMode: "token" | "sequence" | null;
      /**
       * Largest such weight; low_high sets weights outside of it to 0 instead.
       * Allowed: a number above 0, or two as low_high.
       * @default 2
       */
      readonly tisCap: number | string;
      /**
       * Divide these weights by their mean over the step.
       * Allowed: true or false.
       * @default false
       */
      readonly rolloutIsBatchNormalize: boolean;
      /**
       * Leave out tokens or rows by how far the trainer and the sampler disagree about them: k1, k2
       * and k3 of the log-ratio; null is off.
       * Allowed: a list of token_k1, token_k2, token_k3, seq_sum_k1, seq_sum_k2, seq_sum_k3,
       * seq_mean_k1, seq_mean_k2, seq_mean_k3, seq_max_k2, seq_max_k3, or null.
       * @default null
       */
      readonly rolloutRs: string | null;
      /**
       * One bound for each entry of rollout_rs; of k1 they are bounds of the sampler's probability
       * over the trainer's, as in verl from 0.7.1 on.
       * Allowed: a list of numbers above 0, or of low_high, or null.
       * @default null
       */
      readonly rolloutRsThreshold: string | null;
      /**
       * Leave out rows that hold a token with a smaller ratio; null is off.
       * Allowed: a number above 0 and below 1, or null.
       * @default null
       */
      readonly rolloutTokenVetoThreshold: number | null;
    };
  };
  readonly stepwiseAdvantage: {
    /**
     * Whether the options below count.
     * Allowed: true or false.
     * @default false
     */
    readonly enable: boolean;
    /**
     * With broadcast all steps get their trajectory's advantage, with per_step step k is compared
     * with step k of the others.
     * Allowed: one of broadcast, per_step.
     * @default "broadcast"
     */
    readonly mode: "broadcast" | "per_step";
    /**
     * With per_step the discount of later steps' rewards; 0 where a workflow has done that.
     * Allowed: a number of at least 0 and at most 1.
     * @default 1
     */
    readonly gamma: number;
    /**
     * Divide advantages by the number of steps of their trajectory.
     * Allowed: true or false.
     * @default false
     */
    readonly normalizeBySteps: boolean;
  };
  readonly compactFiltering: {
    /**
     * Leave out rollouts by how they ended, as the options below say.
     * Allowed: true or false.
     * @default false
     */
    readonly enable: boolean;
    /**
     * Those whose prompt became too long.
     * Allowed: true or false.
     * @default true
     */
    readonly maskMaxPromptLengthExceeded: boolean;
    /**
     * Those whose answer became too long.
     * Allowed: true or false.
     * @default true
     */
    readonly maskMaxResponseLengthExceeded: boolean;
    /**
     * Those that the environment ended.
     * Allowed: true or false.
     * @default false
     */
    readonly maskEnvDone: boolean;
    /**
     * Those that ran out of turns; functions have no such limit, and tell it with a
     * TerminationEvent.
     * Allowed: true or false.
     * @default true
     */
    readonly maskMaxTurnsExceeded: boolean;
    /**
     * Those that ran out of time.
     * Allowed: true or false.
     * @default true
     */
    readonly maskTimeout: boolean;
    /**
     * Those that ended in no known way.
     * Allowed: true or false.
     * @default false
     */
    readonly maskUnknown: boolean;
    /**
     * Those that failed by what the agent did; other failures are always left out.
     * Allowed: true or false.
     * @default true
     */
    readonly maskError: boolean;
  };
  readonly training: {
    /**
     * Base learning rate; 0 freezes the weights.
     * Allowed: a number of at least 0 and at most 1.
     * @default 0.0001
     */
    readonly learningRate: number;
    /**
     * Shape of the learning rate after warm-up.
     * Allowed: one of constant, linear, cosine.
     * @default "constant"
     */
    readonly lrSchedule: "constant" | "linear" | "cosine";
    /**
     * Steps over which the learning rate rises to its base value.
     * Allowed: a whole number of at least 0.
     * @default 0
     */
    readonly warmupSteps: number;
    /**
     * The same as a share of all steps, where warmup_steps is 0.
     * Allowed: a number of at least 0 and at most 1.
     * @default 0
     */
    readonly warmupStepsRatio: number;
    /**
     * What linear and cosine fall to, as a share of the base rate.
     * Allowed: a number of at least 0 and at most 1.
     * @default 0
     */
    readonly minLrRatio: number;
    /**
     * AdamW, first moment.
     * Allowed: a number of at least 0 and below 1.
     * @default 0.9
     */
    readonly beta1: number;
    /**
     * AdamW, second moment.
     * Allowed: a number of at least 0 and below 1.
     * @default 0.95
     */
    readonly beta2: number;
    /**
     * AdamW, denominator.
     * Allowed: a number above 0 and at most 1.
     * @default 1e-8
     */
    readonly eps: number;
    /**
     * AdamW, decoupled decay.
     * Allowed: a number of at least 0.
     * @default 0
     */
    readonly weightDecay: number;
    /**
     * Gradients are scaled down to this global norm; 0 is never.
     * Allowed: a number of at least 0.
     * @default 1
     */
    readonly maxGradNorm: number;
    /**
     * Parts that a step's rows are dealt into, each with an optimizer step of its own.
     * Allowed: a whole number of at least 1.
     * @default 1
     */
    readonly numMinibatches: number;
    /**
     * Passes over a step's rows.
     * Allowed: a whole number of at least 1.
     * @default 1
     */
    readonly ppoEpochs: number;
  };
  readonly guards: {
    /**
     * A loss or gradient that is not finite ends the run, or skips that update.
     * Allowed: one of raise, skip.
     * @default "raise"
     */
    readonly onNonFinite: "raise" | "skip";
    /**
     * Updates in a row that on_non_finite=skip may skip; one more ends the run.
     * Allowed: a whole number of at least 1.
     * @default 3
     */
    readonly maxSkippedUpdates: number;
    /**
     * Trips when the gradient's norm before clipping is above it; null is off.
     * Allowed: a number above 0, or null.
     * @default null
     */
    readonly gradNorm: number | null;
    /**
     * Trips when the estimated KL from the sampling weights (train/kl_k3) is above it; null is off.
     * Allowed: a number above 0, or null.
     * @default null
     */
    readonly kl: number | null;
    /**
     * Trips when the mean ratio to the sampling weights is above it, or below its inverse; null is
     * off.
     * Allowed: a number above 1, or null.
     * @default null
     */
    readonly ratio: number | null;
    /**
     * What a tripped guard does: a warning, no further updates in this step, or the end of the run.
     * Allowed: one of warn, end_step, stop.
     * @default "stop"
     */
    readonly action: "warn" | "end_step" | "stop";
  };
  readonly rejectionSample: {
    /**
     * Leave out tasks whose rewards are all equal, and roll out more.
     * Allowed: true or false.
     * @default false
     */
    readonly enable: boolean;
    /**
     * Tasks rolled out at a time, as a multiple of data.train_batch_size.
     * Allowed: a number of at least 1 and at most 100.
     * @default 1
     */
    readonly multiplier: number;
    /**
     * A step waits until so many tasks with differing rewards have come together; null is
     * data.train_batch_size.
     * Allowed: a whole number of at least 1, or null.
     * @default null
     */
    readonly minPartialSolveTasks: number | null;
    /**
     * Tasks with fewer scored rollouts are left out.
     * Allowed: a whole number of at least 1.
     * @default 1
     */
    readonly minTrajsPerGroup: number;
    /**
     * Most batches of rollouts for one step; then it trains on what there is.
     * Allowed: a whole number of at least 1.
     * @default 10
     */
    readonly maxBatches: number;
  };
  readonly replay: {
    /**
     * Tasks of earlier steps that each step trains on again; 0 is off.
     * Allowed: a whole number of at least 0.
     * @default 0
     */
    readonly tasks: number;
    /**
     * Steps after which a task is not used again.
     * Allowed: a whole number of at least 1.
     * @default 4
     */
    readonly maxAge: number;
    /**
     * Tasks kept for it; the oldest are dropped first.
     * Allowed: a whole number of at least 1.
     * @default 256
     */
    readonly capacity: number;
  };
  readonly asyncTraining: {
    /**
     * Roll out while training; off: a step's rollouts end before its update begins.
     * Allowed: true or false.
     * @default false
     */
    readonly enable: boolean;
    /**
     * Tasks per optimizer step; null is data.train_batch_size.
     * Allowed: a whole number of at least 1, or null.
     * @default null
     */
    readonly miniBatchSize: number | null;
    /**
     * How far rollouts may run ahead, in exchanges of weights; none is trained on that is older by
     * more than this, rounded up.
     * Allowed: a number of at least 0 and at most 1000.
     * @default 1
     */
    readonly stalenessThreshold: number;
    /**
     * Optimizer steps between two exchanges of weights.
     * Allowed: a whole number of at least 1.
     * @default 1
     */
    readonly triggerParameterSyncStep: number;
    /**
     * Rollouts go on through an exchange of weights; false waits for those under way and starts
     * none meanwhile.
     * Allowed: true or false.
     * @default true
     */
    readonly partialRollout: boolean;
  };
  readonly trainer: {
    /**
     * Passes over the training tasks.
     * Allowed: a whole number of at least 1.
     * @default 1
     */
    readonly totalEpochs: number;
    /**
     * Optimizer steps; -1 lets total_epochs decide.
     * Allowed: -1, or a whole number of at least 1.
     * @default -1
     */
    readonly totalBatches: number;
    /**
     * Validate every so many steps; 0 only before and after.
     * Allowed: a whole number of at least 0.
     * @default 0
     */
    readonly testFreq: number;
    /**
     * Validate before the first step.
     * Allowed: true or false.
     * @default true
     */
    readonly valBeforeTrain: boolean;
    /**
     * Validate once and train nothing.
     * Allowed: true or false.
     * @default false
     */
    readonly valOnly: boolean;
    /**
     * Save a checkpoint every so many steps; 0 only at the end.
     * Allowed: a whole number of at least 0.
     * @default 10
     */
    readonly saveFreq: number;
    /**
     * Seed of everything random in the run.
     * Allowed: a whole number of at least 0 and at most 4294967295.
     * @default 0
     */
    readonly seed: number;
    /**
     * A label, kept with the run.
     * Allowed: a string that is not empty.
     * @default "agent-trainer"
     */
    readonly projectName: string;
    /**
     * Name of the run folder; null makes one from the date.
     * Allowed: a folder name, or null.
     * @default null
     */
    readonly experimentName: string | null;
    /**
     * Folder that holds the run folders.
     * Allowed: a string that is not empty.
     * @default "runs"
     */
    readonly outputDir: string;
    /**
     * The run stops when more than this share of a step's rollouts failed; what the agent made fail
     * after a model call had succeeded is scored and does not count.
     * Allowed: a number of at least 0 and at most 1.
     * @default 0.5
     */
    readonly maxFailedShare: number;
    /**
     * Checkpoints kept; older ones are deleted.
     * Allowed: a whole number of at least 1.
     * @default 3
     */
    readonly keepCheckpoints: number;
    /**
     * Save the step with the best validation so far, and keep it beside the newest.
     * Allowed: true or false.
     * @default false
     */
    readonly keepBest: boolean;
    /**
     * What makes a validation the best: the highest value of this metric.
     * Allowed: the name of a metric of validations, val/....
     * @default "val/reward/mean"
     */
    readonly bestMetric: string;
  };
  readonly workflow: {
    /**
     * Rollouts that run at the same time.
     * Allowed: a whole number of at least 1.
     * @default 64
     */
    readonly nParallelTasks: number;
    /**
     * Further attempts after a connection, the inference server or the set-up failed; see
     * rollout.retry_agent_errors.
     * Allowed: a whole number of at least 0.
     * @default 2
     */
    readonly retryLimit: number;
    /**
     * Seconds for one attempt.
     * Allowed: a number above 0 and at most 2147483.
     * @default 600
     */
    readonly timeoutS: number;
    /**
     * Seconds for the set-up hook of one attempt.
     * Allowed: a number above 0 and at most 2147483.
     * @default 300
     */
    readonly setupTimeoutS: number;
    /**
     * Seconds for one model call; at most timeout_s counts.
     * Allowed: a number above 0 and at most 2147483.
     * @default 600
     */
    readonly callTimeoutS: number;
    /**
     * Seconds for one evaluation.
     * Allowed: a number above 0 and at most 2147483.
     * @default 60
     */
    readonly evaluatorTimeoutS: number;
    /**
     * Seconds for clearing away what a set-up hook made.
     * Allowed: a number above 0 and at most 2147483.
     * @default 60
     */
    readonly teardownTimeoutS: number;
  };
  /**
   * What holds the weights: local, tinker, verl, or path#export of a function that makes a backend.
   * Command line only.
   * Allowed: a string that is not empty.
   * @default "local"
   */
  readonly backend: string;
  /** Options of the backend that the command line makes for backend: local. */
  readonly local: {
    /**
     * Threads inside one operation; null is half of the processors, at least 2.
     * Allowed: a whole number of at least 1, or null.
     * @default null
     */
    readonly threads: number | null;
    /**
     * What computes: an execution provider of onnxruntime. Refused at start where it does not work.
     * Allowed: one of cpu, webgpu, cuda, coreml, dml.
     * @default "cpu"
     */
    readonly provider: "cpu" | "webgpu" | "cuda" | "coreml" | "dml";
    /**
     * MiB for the activations of one training micro-batch; less is slower.
     * Allowed: a whole number of at least 64.
     * @default 1536
     */
    readonly trainingMemoryMib: number;
    /**
     * MiB for keys and values of running sequences and prompts; with less, more of them wait. Null
     * is a quarter of the memory.
     * Allowed: a whole number of at least 64, or null.
     * @default null
     */
    readonly cacheMemoryMib: number | null;
    /**
     * Frozen weights while sampling; int8 needs LoRA and draws from a slightly different
     * distribution, which the loss corrects.
     * Allowed: one of float32, int8.
     * @default "float32"
     */
    readonly samplingPrecision: "float32" | "int8";
    /**
     * AdamW's moments; bfloat16 takes half of the memory, rounded at random.
     * Allowed: one of float32, bfloat16.
     * @default "float32"
     */
    readonly momentPrecision: "float32" | "bfloat16";
  };
  /**
   * The Tinker server; null is TINKER_BASE_URL, or the hosted service.
   * Allowed: a string that is not empty, or null.
   * @default null
   */
  readonly tinkerBaseUrl: string | null;
  /** Options of the backend that the command line makes for backend: tinker. */
  readonly tinker: {
    /**
     * Folder with the model's tokenizer, or its OWNER/NAME on a hub; null is model.name, or what
     * the server says.
     * Allowed: a string that is not empty, or null.
     * @default null
     */
    readonly tokenizer: string | null;
    /**
     * Longest prompt and completion in tokens; null asks the server.
     * Allowed: a whole number of at least 2, or null.
     * @default null
     */
    readonly contextLength: number | null;
    /**
     * Seconds after which the server may delete a checkpoint; null is never.
     * Allowed: a whole number of at least 1, or null.
     * @default null
     */
    readonly checkpointTtlS: number | null;
  };
  /** Options of the backend that the command line makes for backend: verl. */
  readonly verl: {
    /**
     * Python with verl; null is what `agent-trainer verl setup` made, else python3.
     * Allowed: a string that is not empty, or null.
     * @default null
     */
    readonly python: string | null;
    /**
     * The bridge as a child process, as a Ray job, or one that runs already.
     * Allowed: one of process, job, attach.
     * @default "process"
     */
    readonly launcher: "process" | "job" | "attach";
    /**
     * What trains; fake is a toy policy without packages, to try a set-up.
     * Allowed: one of verl, fake.
     * @default "verl"
     */
    readonly engine: "verl" | "fake";
    /**
     * The bridge to attach to, whose token is in AGENT_TRAINER_BRIDGE_TOKEN, or Ray's dashboard for
     * a job; null is http://127.0.0.1:8265.
     * Allowed: a string that is not empty, or null.
     * @default null
     */
    readonly url: string | null;
    /**
     * Ray's head as HOST:6379; null is RAY_ADDRESS, else a Ray of its own.
     * Allowed: a string that is not empty, or null.
     * @default null
     */
    readonly rayAddress: string | null;
    /**
     * GPUs of each machine.
     * Allowed: a whole number of at least 1.
     * @default 8
     */
    readonly gpusPerNode: number;
    /**
     * Machines.
     * Allowed: a whole number of at least 1.
     * @default 1
     */
    readonly nodes: number;
    /**
     * Whether servers share the GPUs with training and sleep during updates, or have GPUs of their
     * own.
     * Allowed: one of colocated, disaggregated.
     * @default "colocated"
     */
    readonly placement: "colocated" | "disaggregated";
    /**
     * Disaggregated: GPUs that sample, on each machine that does; null is gpus_per_node.
     * Allowed: a whole number of at least 1, or null.
     * @default null
     */
    readonly inferenceGpusPerNode: number | null;
    /**
     * Disaggregated: machines that sample, or parts of machines.
     * Allowed: a whole number of at least 1.
     * @default 1
     */
    readonly inferenceNodes: number;
    /**
     * What samples: vllm, sglang, or another that verl knows.
     * Allowed: a string that is not empty.
     * @default "vllm"
     */
    readonly inference: string;
    /**
     * GPUs that share one copy of the model while sampling.
     * Allowed: a whole number of at least 1.
     * @default 1
     */
    readonly tensorParallel: number;
    /**
     * A module.function that every process calls before it uses verl.
     * Allowed: a string that is not empty, or null.
     * @default null
     */
    readonly setupHook: string | null;
    /**
     * Seconds until models are loaded and servers are up.
     * Allowed: a number above 0 and at most 86400.
     * @default 1800
     */
    readonly startTimeoutS: number;
    /**
     * Seconds for an update, an exchange of weights, or a checkpoint.
     * Allowed: a number above 0 and at most 86400.
     * @default 3600
     */
    readonly timeoutS: number;
    /**
     * Options of verl's own, as verl.config.actor_rollout_ref... or in Hydra's form.
     * Allowed: a tree of verl's options, or a list of key=value.
     * @default []
     */
    readonly config: readonly string[];
  };
  /**
   * Module of the agent, path#export: a flow, a class of workflows, or an object with the parts of
   * a way in. Command line only.
   * Allowed: a string that is not empty, or null.
   * @default null
   */
  readonly agent: string | null;
  /**
   * Module of the evaluator, path#export; not for agents that bring their reward. Command line
   * only.
   * Allowed: a string that is not empty, or null.
   * @default null
   */
  readonly evaluator: string | null;
  readonly dataset: {
    /**
     * Training tasks: .jsonl, .json, .csv, .tsv or path#export. Command line only.
     * Allowed: a string that is not empty, or null.
     * @default null
     */
    readonly train: string | null;
    /**
     * Validation tasks, in the same forms. Command line only.
     * Allowed: a string that is not empty, or null.
     * @default null
     */
    readonly val: string | null;
  };
}

/** How tokens are sampled in rollouts; wins over what the agent sends. */
export type RolloutSampling = TrainConfig["rollout"]["train"];

/** What is done about rollouts that were not sampled by exactly the weights that train. */
export type RolloutCorrectionOptions = TrainConfig["algorithm"]["rolloutCorrection"];
