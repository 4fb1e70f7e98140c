/**
 * Every option, as code reads it and as editors show it. Generated from `schema/` by
 * `npm run schema`; do not edit. Files and `key=value` lists have the same names in snake_case.
 */

/** Options of a run, all sections but `algorithm`. */
export interface Sections {
  readonly model?: {
    /**
     * Model that is trained: a model folder, a run folder (its newest checkpoint), a .gguf file, OWNER/NAME on a hub,
     * or builtin:shop-tiny; which of these work depends on the backend.
     * Allowed: a non-empty string.
     * @default "HuggingFaceTB/SmolLM2-135M-Instruct"
     */
    readonly name?: string;
    /**
     * Rank of the LoRA adapters (arXiv:2106.09685); 0 trains all weights, without LoRA. null is 32 for a model that is
     * larger than the built-in one, and where the backend trains only adapters; else 0.
     * Allowed: a whole number of at least 0 and at most 65536, or null.
     * @default null
     */
    readonly loraRank?: number;
    /**
     * Scale of the LoRA adapters: their output is multiplied by lora_alpha / lora_rank (arXiv:2106.09685).
     * Allowed: a number above 0.
     * @default 32
     */
    readonly loraAlpha?: number;
    /**
     * Precision of the frozen linear layers under the LoRA adapters, both in sampling and in training (as QLoRA,
     * arXiv:2305.14314): int8 is 8-bit integers with one scale per output, none the numbers of the model.
     * @default "none"
     */
    readonly quantization?: "none" | "int8";
    /**
     * Linear layers that get a LoRA adapter: all of the blocks, those of the attention, those of the MLP, or a list of
     * names. Adapters on attention alone learn less, even with as many weights (Thinking Machines, LoRA Without
     * Regret).
     * Allowed: one of all, attention, mlp, or a list of q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj.
     * @default "all"
     */
    readonly loraTargets?:
      | "all"
      | "attention"
      | "mlp"
      | readonly (
          | "q_proj"
          | "k_proj"
          | "v_proj"
          | "o_proj"
          | "gate_proj"
          | "up_proj"
          | "down_proj"
        )[];
    /**
     * LoRA adapters for single roles on one base model, as {role: adapter}, each sampled and trained by the calls of
     * its roles only. none is the base model alone, which is not trained. Roles that are not named share the adapter
     * default.
     * Allowed: a map of roles to names of adapters (of letters, digits, _, . and -), default or none, or a list of
     * role=adapter.
     * @default []
     */
    readonly adapterByRole?: readonly string[];
  };
  readonly data?: {
    /**
     * Tasks per step; each is rolled out rollout.n times.
     * Allowed: a whole number of at least 1 and at most 1000000.
     * @default 16
     */
    readonly trainBatchSize?: number;
    /**
     * Validation tasks that run at the same time; -1 is all of them.
     * Allowed: -1, or a whole number from 1 to 1000000000.
     * @default -1
     */
    readonly valBatchSize?: number;
    /**
     * Maximum tokens of the prompt of one model call; a longer one ends its rollout. null is the model's context
     * length.
     * Allowed: a whole number of at least 1 and at most 16777216, or null.
     * @default null
     */
    readonly maxPromptLength?: number | null;
    /**
     * Seed of the order of the training tasks; null is trainer.seed.
     * Allowed: a whole number of at least 0 and at most 4294967295, or null.
     * @default null
     */
    readonly seed?: number;
    /**
     * Order of the tasks: none shuffles those of an epoch, easy_first and hard_first sort them by difficulty and
     * shuffle equal ones, solve_rate takes those that teach most by the solve rates observed so far, without epochs.
     * @default "none"
     */
    readonly curriculum?: OrType<
      | {
          readonly type: "none";
        }
      | {
          readonly type: "easy_first" | "hard_first";
          /**
           * Key of the difficulty in a task's metadata: a number, larger is harder.
           * Allowed: a non-empty string.
           * @default "difficulty"
           */
          readonly difficultyKey?: string;
        }
      | {
          readonly type: "solve_rate";
          /**
           * Key of a task's metadata: tasks with the same value share an estimate of their solve rate. null is an
           * estimate for each task, which needs rollouts of that task.
           * Allowed: a non-empty string, or null.
           * @default null
           */
          readonly groupKey?: string | null;
        }
    >;
  };
  readonly rollout?: {
    /**
     * Group size: rollouts of each task in a step, which are compared with each other. TRL's default is 8; DAPO uses 16
     * (arXiv:2503.14476), the GRPO paper 64 (arXiv:2402.03300).
     * Allowed: a whole number of at least 1 and at most 65536.
     * @default 8
     */
    readonly n?: number;
    /**
     * Rollouts of each task in a validation; val/pass@n is computed over them.
     * Allowed: a whole number of at least 1 and at most 65536.
     * @default 1
     */
    readonly nVal?: number;
    /**
     * Roles that are sampled and scored, but excluded from training.
     * Allowed: a list of trajectory names.
     * @default []
     */
    readonly untrainedRoles?: readonly string[];
    /**
     * Which calls are kept out of training because a rule takes them for side calls: own, those of rules that the agent
     * was given; exclude, those of any rule, also of the built-in ones of claudeCode, codex, opencode and pi (quota,
     * title, summary, suggestion, small-model, sub-agent); a list, those of the rules in it; train, none. All other
     * calls are trained with the reward of their rollout.
     * Allowed: one of own, train, exclude, or a list of rules.
     * @default "own"
     */
    readonly sideCalls?: "own" | "train" | "exclude" | readonly string[];
    /**
     * Which reward is trained on when an evaluator scores rollouts that report rewards themselves, as workflows and
     * environments do: evaluator takes the evaluator's, rollout takes the reported ones.
     * @default "evaluator"
     */
    readonly rewardSource?: "evaluator" | "rollout";
    /**
     * Minimum reward of a correct rollout, where it is scored with a plain number; null counts rewards of at least 1 as
     * correct, of at most 0 as incorrect, and leaves those in between undecided.
     * Allowed: a number, or null.
     * @default null
     */
    readonly solvedReward?: number | null;
    /**
     * Reward of a rollout in which the agent threw or timed out; set it to the lowest reward of the evaluator.
     * Allowed: a number.
     * @default 0
     */
    readonly failureReward?: number;
    /**
     * Retry training rollouts in which the agent threw or timed out, and exclude those that still fail, instead of
     * giving them rollout.failure_reward.
     * @default false
     */
    readonly retryAgentErrors?: boolean;
    readonly train?: {
      /**
       * Sampling temperature in training; 0 is greedy, 1 samples from the model's own distribution, as verl and TRL do
       * by default.
       * Allowed: a number of at least 0 and at most 10.
       * @default 1
       */
      readonly temperature?: number;
      /**
       * Top-p (nucleus) sampling in training: sample from the most likely tokens whose probabilities add up to this; 1
       * is off.
       * Allowed: a number above 0 and at most 1.
       * @default 1
       */
      readonly topP?: number;
      /**
       * Top-k sampling in training: sample from the k most likely tokens; 0 is off.
       * Allowed: a whole number of at least 0 and at most 1000000000.
       * @default 0
       */
      readonly topK?: number;
      /**
       * Min-p sampling in training: exclude tokens whose probability is below this fraction of that of the most likely
       * token; 0 is off.
       * Allowed: a number of at least 0 and at most 1.
       * @default 0
       */
      readonly minP?: number;
      /**
       * Maximum tokens that one model call may sample in training.
       * Allowed: a whole number of at least 1 and at most 16777216.
       * @default 512
       */
      readonly maxTokens?: number;
    };
    readonly val?: {
      /**
       * Sampling temperature in validation; 0 is greedy.
       * Allowed: a number of at least 0 and at most 10.
       * @default 1
       */
      readonly temperature?: number;
      /**
       * Top-p (nucleus) sampling in validation; 1 is off, null is rollout.train.top_p.
       * Allowed: a number above 0 and at most 1, or null.
       * @default null
       */
      readonly topP?: number;
      /**
       * Top-k sampling in validation; 0 is off, null is rollout.train.top_k.
       * Allowed: a whole number of at least 0 and at most 1000000000, or null.
       * @default null
       */
      readonly topK?: number;
      /**
       * Min-p sampling in validation; 0 is off, null is rollout.train.min_p.
       * Allowed: a number of at least 0 and at most 1, or null.
       * @default null
       */
      readonly minP?: number;
      /**
       * Maximum tokens that one model call may sample in validation; null is rollout.train.max_tokens.
       * Allowed: a whole number of at least 1 and at most 16777216, or null.
       * @default null
       */
      readonly maxTokens?: number;
    };
  };
  readonly stepwiseAdvantage?: {
    /**
     * Step-wise advantages: apply stepwise_advantage.mode, gamma and normalize_by_steps; false gives all steps the
     * advantage of their trajectory.
     * @default false
     */
    readonly enable?: boolean;
    /**
     * Unit of the comparison: broadcast gives all steps the advantage of their trajectory, per_step compares the return
     * of step k with that of step k of the other trajectories in the group.
     * @default "broadcast"
     */
    readonly mode?: "broadcast" | "per_step";
    /**
     * Discount of later steps' rewards in the return of a step, for stepwise_advantage.mode=per_step; 1 is no discount,
     * 0 ignores later steps, for workflows that have discounted already.
     * Allowed: a number of at least 0 and at most 1.
     * @default 1
     */
    readonly gamma?: number;
    /**
     * Divide the advantages of a trajectory by its number of steps.
     * @default false
     */
    readonly normalizeBySteps?: boolean;
  };
  readonly training?: {
    /**
     * Peak learning rate, after warm-up; 0 freezes the weights. null is 1e-4 for the built-in model; for larger ones
     * 3e-4 with LoRA, as in tinker-cookbook, and a tenth of it for full fine-tuning (Thinking Machines, LoRA Without
     * Regret), for which verl and TRL use 1e-6.
     * Allowed: a number of at least 0 and at most 1, or null.
     * @default null
     */
    readonly learningRate?: number;
    /**
     * Learning rates of single adapters of model.adapter_by_role in place of training.learning_rate, as {judge: 1e-5},
     * with the same schedule; 0 freezes one as it is. The adapter of roles that are not named is default.
     * Allowed: a map of adapters to numbers from 0 on, or a list of name=number.
     * @default []
     */
    readonly learningRateByAdapter?: readonly string[];
    /**
     * Learning-rate schedule after warm-up; linear and cosine decay to min_ratio.
     * @default "constant"
     */
    readonly lrSchedule?: OrType<
      | {
          readonly type: "constant";
          /**
           * Linear warm-up of the learning rate: a number of steps, or below 1 a fraction of all steps, rounded down; 0
           * is none.
           * Allowed: a whole number of steps of at least 0, or a fraction below 1.
           * @default 0
           */
          readonly warmup?: number;
        }
      | {
          readonly type: "linear" | "cosine";
          /**
           * Linear warm-up of the learning rate: a number of steps, or below 1 a fraction of all steps, rounded down; 0
           * is none.
           * Allowed: a whole number of steps of at least 0, or a fraction below 1.
           * @default 0
           */
          readonly warmup?: number;
          /**
           * Final learning rate, as a fraction of training.learning_rate.
           * Allowed: a number of at least 0 and at most 1.
           * @default 0
           */
          readonly minRatio?: number;
        }
    >;
    /**
     * AdamW β1 (arXiv:1711.05101): decay of the first moment.
     * Allowed: a number of at least 0 and below 1.
     * @default 0.9
     */
    readonly beta1?: number;
    /**
     * AdamW β2: decay of the second moment; TRL and verl use 0.999 by default.
     * Allowed: a number of at least 0 and below 1.
     * @default 0.95
     */
    readonly beta2?: number;
    /**
     * AdamW ε, added to the denominator for numerical stability.
     * Allowed: a number above 0 and at most 1.
     * @default 1e-8
     */
    readonly eps?: number;
    /**
     * Decoupled weight decay of AdamW, on matrices only; 0 is off.
     * Allowed: a number of at least 0.
     * @default 0
     */
    readonly weightDecay?: number;
    /**
     * Maximum global gradient norm; larger gradients are scaled down to it. 0 is no clipping; TRL and verl use 1 by
     * default.
     * Allowed: a number of at least 0.
     * @default 1
     */
    readonly maxGradNorm?: number;
    /**
     * Mini-batches that the rows of a step are split into, each with its own optimizer step.
     * Allowed: a whole number of at least 1 and at most 65536.
     * @default 1
     */
    readonly numMinibatches?: number;
    /**
     * Passes over the rows of a step; with 1, verl's and TRL's default, each row is trained on once.
     * Allowed: a whole number of at least 1 and at most 10000.
     * @default 1
     */
    readonly ppoEpochs?: number;
  };
  readonly guards?: {
    /**
     * What a loss or gradient that is not finite does: raise ends the run, skip skips that update.
     * @default "raise"
     */
    readonly onNonFinite?: OrType<
      | {
          readonly type: "raise";
        }
      | {
          readonly type: "skip";
          /**
           * Maximum consecutive updates that may be skipped; one more ends the run.
           * Allowed: a whole number of at least 1 and at most 1000000000.
           * @default 3
           */
          readonly maxUpdates?: number;
        }
    >;
    /**
     * Limit of the gradient norm before clipping (train/grad_norm); above it, guards.action applies. null is off.
     * Allowed: a number above 0, or null.
     * @default null
     */
    readonly gradNorm?: number | null;
    /**
     * Limit of the estimated KL divergence from the weights that sampled (train/kl_k3), in nats per token; above it,
     * guards.action applies. null is off.
     * Allowed: a number above 0, or null.
     * @default null
     */
    readonly kl?: number | null;
    /**
     * Limit of the mean probability ratio to the weights that sampled (train/ratio_mean); above it or below its
     * inverse, guards.action applies. null is off.
     * Allowed: a number above 1, or null.
     * @default null
     */
    readonly ratio?: number | null;
    /**
     * What happens when guards.grad_norm, guards.kl or guards.ratio is exceeded: warn only warns, end_step makes no
     * further updates in the step, stop ends the run.
     * @default "stop"
     */
    readonly action?: "warn" | "end_step" | "stop";
  };
  readonly health?: {
    /**
     * Look for problems in the metrics of every step and validation, such as rewards without variance or a collapse of
     * entropy, and warn once of each.
     * @default true
     */
    readonly enabled?: boolean;
    /**
     * Problems that end the run when they are found, by name; the last completed step is saved. The page docs/health.md
     * explains each.
     * Allowed: a list of no_reward_variance, reward_hacked, validation_diverges, updates_skipped, learning_rate_high,
     * learning_rate_low, entropy_collapse, length_collapse, truncation, garbled_output, repeated_text, tool_errors,
     * malformed_tool_calls, failed_rollouts, untrainable_calls, sampler_trainer_gap, stale_weights, each at most once.
     * @default []
     */
    readonly stop?: readonly (
      | "no_reward_variance"
      | "reward_hacked"
      | "validation_diverges"
      | "updates_skipped"
      | "learning_rate_high"
      | "learning_rate_low"
      | "entropy_collapse"
      | "length_collapse"
      | "truncation"
      | "garbled_output"
      | "repeated_text"
      | "tool_errors"
      | "malformed_tool_calls"
      | "failed_rollouts"
      | "untrainable_calls"
      | "sampler_trainer_gap"
      | "stale_weights"
    )[];
  };
  readonly budget?: {
    /**
     * Maximum tokens of the run: prompts, sampled tokens and trained sequences, validations included. The run saves a
     * checkpoint and ends before a step that would exceed it; null is no limit.
     * Allowed: a whole number of at least 1, or null.
     * @default null
     */
    readonly tokens?: number | null;
    /**
     * Maximum cost of the run in US dollars, by the prices of budget.prices; refused where prices are unknown. null is
     * no limit.
     * Allowed: a number above 0, or null.
     * @default null
     */
    readonly usd?: number | null;
    /**
     * Maximum minutes on the clock, over all processes of the run, validations included. The run saves a checkpoint and
     * ends before a step that would exceed it; null is no limit.
     * Allowed: a number above 0 and at most 5256000, or null.
     * @default null
     */
    readonly minutes?: number | null;
    readonly prices?: {
      /**
       * Price of a million prompt tokens in US dollars; null is the built-in table's, where it lists the model.
       * Allowed: a number of at least 0, or null.
       * @default null
       */
      readonly prompt?: number | null;
      /**
       * Price of a million sampled tokens in US dollars; null is the built-in table's, where it lists the model.
       * Allowed: a number of at least 0, or null.
       * @default null
       */
      readonly sampled?: number | null;
      /**
       * Price of a million trained tokens in US dollars; null is the built-in table's, where it lists the model.
       * Allowed: a number of at least 0, or null.
       * @default null
       */
      readonly trained?: number | null;
      /**
       * Price of one GPU-hour of dedicated hardware in US dollars; null is the built-in table's, where it lists the
       * accelerator.
       * Allowed: a number of at least 0, or null.
       * @default null
       */
      readonly gpuHour?: number | null;
    };
  };
  readonly rejectionSample?: {
    /**
     * Rejection sampling: drop tasks whose rollouts teach nothing, as with equal rewards, and roll out others in their
     * place, as DAPO's dynamic sampling does (arXiv:2503.14476).
     * @default false
     */
    readonly enable?: boolean;
    /**
     * Maximum batches of rollouts that rejection sampling makes for one step; after that, the step trains on what it
     * has.
     * Allowed: a whole number of at least 1 and at most 1000000000.
     * @default 10
     */
    readonly maxBatches?: number;
  };
  readonly asyncTraining?: {
    /**
     * Asynchronous training: rollouts run while the policy is updated. false is synchronous: all rollouts of a step end
     * before its update begins.
     * @default false
     */
    readonly enable?: boolean;
    /**
     * Tasks per optimizer step of asynchronous training; null is data.train_batch_size.
     * Allowed: a whole number of at least 1 and at most 1000000, or null.
     * @default null
     */
    readonly miniBatchSize?: number | null;
    /**
     * Maximum staleness of rollouts, in weight syncs, rounded up; 0 allows only those sampled since the last sync.
     * AReaL reports no loss of accuracy at 4 with decoupled ratios, as of algorithm.rollout_correction=recompute
     * (arXiv:2505.24298).
     * Allowed: a number of at least 0 and at most 1000.
     * @default 1
     */
    readonly stalenessThreshold?: number;
    /**
     * Optimizer steps between two weight syncs to the sampler; 1 syncs after every step.
     * Allowed: a whole number of at least 1 and at most 1000000000.
     * @default 1
     */
    readonly triggerParameterSyncStep?: number;
    /**
     * Let rollouts continue through a weight sync; false waits for those in flight and starts none until the sync is
     * done.
     * @default true
     */
    readonly partialRollout?: boolean;
  };
  readonly trainer?: {
    /**
     * Passes over the training tasks; ignored where trainer.total_batches is set.
     * Allowed: a whole number of at least 1 and at most 1000000000.
     * @default 1
     */
    readonly totalEpochs?: number;
    /**
     * Steps of the run; -1 makes as many as trainer.total_epochs takes.
     * Allowed: -1, or a whole number from 1 to 1000000000.
     * @default -1
     */
    readonly totalBatches?: number;
    /**
     * Steps between validations; 0 validates only before the first step (trainer.val_before_train) and after the last.
     * Allowed: a whole number of at least 0 and at most 1000000000.
     * @default 0
     */
    readonly testFreq?: number;
    /**
     * Validate once before the first step, if there is validation data.
     * @default true
     */
    readonly valBeforeTrain?: boolean;
    /**
     * Validate once and do not train.
     * @default false
     */
    readonly valOnly?: boolean;
    /**
     * Steps between checkpoints; 0 saves only at the end.
     * Allowed: a whole number of at least 0 and at most 1000000000.
     * @default 10
     */
    readonly saveFreq?: number;
    /**
     * Seed of everything random in the run: task order, sampling, initialization.
     * Allowed: a whole number of at least 0 and at most 4294967295.
     * @default 0
     */
    readonly seed?: number;
    /**
     * Name of the run, and of its folder in trainer.output_dir; null derives one from the date and time.
     * Allowed: a folder name, or null.
     * @default null
     */
    readonly experimentName?: string | null;
    /**
     * Folder in which run folders are created.
     * Allowed: a non-empty string.
     * @default "runs"
     */
    readonly outputDir?: string;
    /**
     * Maximum fraction of a step's rollouts that may fail before the run stops; rollouts in which the agent failed
     * after a successful model call are scored and do not count.
     * Allowed: a number of at least 0 and at most 1.
     * @default 0.5
     */
    readonly maxFailedFraction?: number;
    /**
     * End the run with an error after its first three steps, or its last, if every rollout of each failed or left
     * nothing to train on.
     * @default true
     */
    readonly stopWhenNothingLearned?: boolean;
    /**
     * Number of newest checkpoints to keep; older ones are deleted.
     * Allowed: a whole number of at least 1 and at most 1000000000.
     * @default 3
     */
    readonly keepCheckpoints?: number;
    /**
     * Save the step with the best validation so far (trainer.best_metric), and keep it in addition to the newest;
     * RUN/best names it.
     * @default false
     */
    readonly keepBest?: boolean;
    /**
     * Validation metric whose highest value is the best, for trainer.keep_best and trainer.early_stopping_patience.
     * Allowed: the name of a metric of validations, val/....
     * @default "val/reward/mean"
     */
    readonly bestMetric?: string;
    /**
     * Stop after this many validations in a row without a better value of trainer.best_metric; 0 never stops early.
     * Allowed: a whole number of at least 0 and at most 1000000000.
     * @default 0
     */
    readonly earlyStoppingPatience?: number;
    /**
     * How much higher than the best value before a validation must be to count as better, for
     * trainer.early_stopping_patience.
     * Allowed: a number of at least 0.
     * @default 0
     */
    readonly earlyStoppingMinDelta?: number;
  };
  readonly tracking?: {
    /**
     * Trackers that receive the run's metrics, any number at once; a run always shows progress and writes
     * metrics.jsonl. One that fails or hangs is dropped with a warning.
     * Allowed: a list of tensorboard, wandb, mlflow, prometheus, opentelemetry, each at most once.
     * @default []
     */
    readonly trackers?: readonly (
      | "tensorboard"
      | "wandb"
      | "mlflow"
      | "prometheus"
      | "opentelemetry"
    )[];
    /**
     * Name that groups runs: a project of W&B, an experiment of MLflow.
     * Allowed: a non-empty string.
     * @default "agent-trainer"
     */
    readonly project?: string;
    /**
     * Maximum seconds that a tracker may take for one event, and for closing when the run ends.
     * Allowed: a number above 0 and at most 3600.
     * @default 30
     */
    readonly timeoutS?: number;
    readonly wandb?: {
      /**
       * How W&B gets the run: offline writes its log into the run folder, for wandb sync; online uploads that while the
       * run goes, with the installed command wandb.
       * @default "offline"
       */
      readonly mode?: "offline" | "online";
      /**
       * W&B team or user of the run; null is the account's default.
       * Allowed: a non-empty string, or null.
       * @default null
       */
      readonly entity?: string | null;
    };
    readonly mlflow?: {
      /**
       * MLflow tracking server. A token is read from MLFLOW_TRACKING_TOKEN, or a user and password from
       * MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD.
       * Allowed: a string.
       * @default "http://127.0.0.1:5000"
       */
      readonly url?: string;
    };
    readonly prometheus?: {
      /**
       * Address at which /metrics listens.
       * Allowed: a non-empty string.
       * @default "127.0.0.1"
       */
      readonly host?: string;
      /**
       * Port at which /metrics listens; 0 takes any free one.
       * Allowed: a whole number of at least 0 and at most 65535.
       * @default 9464
       */
      readonly port?: number;
    };
    readonly opentelemetry?: {
      /**
       * URL that spans are posted to as OTLP over HTTP, such as http://127.0.0.1:4318/v1/traces; null takes the
       * environment's OTEL_EXPORTER_OTLP_ENDPOINT.
       * Allowed: a string, or null.
       * @default null
       */
      readonly endpoint?: string | null;
      /**
       * Whether spans hold messages and tool arguments, which may be private.
       * @default false
       */
      readonly content?: boolean;
    };
  };
  readonly record?: {
    /**
     * Training rollouts of each step that are kept in the run folder: those of a few tasks, chosen by the seed, and all
     * that failed; -1 keeps all. Validations are kept whole, and metrics are those of all rollouts.
     * Allowed: -1, 0, or a whole number of rollouts.
     * @default -1
     */
    readonly episodes?: number;
    /**
     * How files of episodes, of tokens in training and of HTTP bodies are written: as text, or packed with gzip to less
     * than half, which zcat and every command here read.
     * @default "none"
     */
    readonly compression?: "none" | "gzip";
    /**
     * Training rows of each step whose per-token numbers are kept for the viewer: log-probabilities, entropy (with
     * local), advantages and masks, of a few tasks chosen by the seed; -1 keeps all, 0 none. Costs a forward pass over
     * these rows, with local two.
     * Allowed: -1, 0, or a whole number of rows.
     * @default 0
     */
    readonly tokenRows?: number;
    /**
     * Kilobytes kept for the viewer of each HTTP request body and each response body of the agents' model calls, with
     * keys redacted; longer ones are cut, and 0 keeps none.
     * Allowed: a whole number of at least 0 and at most 65536.
     * @default 0
     */
    readonly httpBodyKb?: number;
  };
  readonly workflow?: {
    /**
     * Maximum rollouts that run at the same time.
     * Allowed: a whole number of at least 1 and at most 65536.
     * @default 64
     */
    readonly nParallelTasks?: number;
    /**
     * Maximum retries of a rollout after a failure of the connection, the inference server or the setup hook; 0 is
     * none. For failures of the agent, see rollout.retry_agent_errors.
     * Allowed: a whole number of at least 0 and at most 1000.
     * @default 2
     */
    readonly retryLimit?: number;
    /**
     * Timeout in seconds of one rollout attempt.
     * Allowed: a number above 0 and at most 2147483.
     * @default 600
     */
    readonly timeoutS?: number;
    /**
     * Timeout in seconds of the setup hook of one rollout attempt.
     * Allowed: a number above 0 and at most 2147483.
     * @default 300
     */
    readonly setupTimeoutS?: number;
    /**
     * Timeout in seconds of one model call, capped at workflow.timeout_s.
     * Allowed: a number above 0 and at most 2147483.
     * @default 600
     */
    readonly callTimeoutS?: number;
    /**
     * Timeout in seconds of the evaluation of one rollout.
     * Allowed: a number above 0 and at most 2147483.
     * @default 60
     */
    readonly evaluatorTimeoutS?: number;
    /**
     * Timeout in seconds of the teardown of one rollout attempt, which removes what its setup hook created.
     * Allowed: a number above 0 and at most 2147483.
     * @default 60
     */
    readonly teardownTimeoutS?: number;
  };
  readonly gateway?: {
    /**
     * Address that the run's gateway listens on; null is 127.0.0.1, which only this machine reaches, 0.0.0.0 every
     * address, for agents in containers and on other machines. Calls need the token of their rollout.
     * Allowed: a non-empty string, or null.
     * @default null
     */
    readonly host?: string | null;
    /**
     * Port of the run's gateway; 0 is a free one.
     * Allowed: a whole number of at least 0 and at most 65535.
     * @default 0
     */
    readonly port?: number;
    /**
     * URL by which agents reach the run's gateway, without a path, such as http://host.docker.internal:8000; null is
     * the address that it listens on.
     * Allowed: a string, or null.
     * @default null
     */
    readonly publicUrl?: string | null;
  };
  /**
   * Training backend, which holds the weights: local, tinker, fireworks, verl, or path#export of a function that
   * creates a backend. Code may pass a backend in its place.
   * Allowed: a non-empty string.
   * @default "local"
   */
  readonly backend?: string;
  /** Options of the backend local, where the trainer creates it: by name, with backend=local. */
  readonly local?: {
    /**
     * CPU threads within one operation; null is half of the CPUs, at least 2.
     * Allowed: a whole number of at least 1 and at most 1024, or null.
     * @default null
     */
    readonly threads?: number | null;
    /**
     * What matrix products are computed in, the same for sampling and training; auto is bf16 where the processor has
     * instructions for it, else f32.
     * @default "auto"
     */
    readonly precision?: "auto" | "f32" | "bf16";
    /**
     * Memory in MiB for the activations of one training micro-batch; less memory makes training slower.
     * Allowed: a whole number of at least 64 and at most 16777216.
     * @default 1536
     */
    readonly trainingMemoryMib?: number;
    /**
     * Memory in MiB for the KV cache of running sequences and prompts; with less, more of them wait. null is a quarter
     * of the machine's memory.
     * Allowed: a whole number of at least 64 and at most 16777216, or null.
     * @default null
     */
    readonly cacheMemoryMib?: number | null;
    /**
     * Precision of AdamW's moments; bfloat16 takes half of the memory, with stochastic rounding.
     * @default "float32"
     */
    readonly momentPrecision?: "float32" | "bfloat16";
  };
  /** Options of the backend tinker, where the trainer creates it: by name, with backend=tinker. */
  readonly tinker?: {
    /**
     * URL of the Tinker server; null is TINKER_BASE_URL, else the hosted service.
     * Allowed: a non-empty string, or null.
     * @default null
     */
    readonly baseUrl?: string | null;
    /**
     * Tokenizer of the model: a folder or OWNER/NAME on a hub; null is model.name, or what the server reports.
     * Allowed: a non-empty string, or null.
     * @default null
     */
    readonly tokenizer?: string | null;
    /**
     * Context length of the model: maximum tokens of prompt and completion together; null requests it from the server.
     * Allowed: a whole number of at least 2 and at most 16777216, or null.
     * @default null
     */
    readonly contextLength?: number | null;
    /**
     * Time in seconds after which the server may delete a checkpoint; null is never.
     * Allowed: a whole number of at least 1 and at most 1000000000, or null.
     * @default null
     */
    readonly checkpointTtlS?: number | null;
    /**
     * Whether a snapshot of the server keeps its weights while training continues: probe checks it at the first weight
     * sync and refuses a server whose snapshots follow the trained weights; frozen trusts the server; live trains on
     * one whose snapshots follow, synchronously only.
     * @default "probe"
     */
    readonly snapshots?: "probe" | "frozen" | "live";
  };
  /** Options of the backend fireworks, where the trainer creates it: by name, with backend=fireworks. */
  readonly fireworks?: {
    /**
     * Root URL of the Fireworks API; null is FIREWORKS_BASE_URL, else the hosted service. The key is read from
     * FIREWORKS_API_KEY.
     * Allowed: a non-empty string, or null.
     * @default null
     */
    readonly baseUrl?: string | null;
    /**
     * Fireworks account that pays for the run; null is the only one of the key.
     * Allowed: a non-empty string, or null.
     * @default null
     */
    readonly account?: string | null;
    /**
     * Tokenizer of the model: a folder or OWNER/NAME on a hub. Fireworks does not report it; null is model.name.
     * Allowed: a non-empty string, or null.
     * @default null
     */
    readonly tokenizer?: string | null;
    /**
     * Context length of the model: maximum tokens of prompt and completion together. Serverless training does not
     * report it, so it must be set there; null is that of fireworks.training_shape.
     * Allowed: a whole number of at least 2 and at most 16777216, or null.
     * @default null
     */
    readonly contextLength?: number | null;
    /**
     * Whether the adapter covers the attention.
     * @default true
     */
    readonly trainAttn?: boolean;
    /**
     * Whether the adapter covers the MLP.
     * @default true
     */
    readonly trainMlp?: boolean;
    /**
     * Whether the adapter covers the output head.
     * @default true
     */
    readonly trainUnembed?: boolean;
    /**
     * Name of a new model of the account that the last checkpoint becomes at the end of the run; null is none.
     * Everything else is deleted with the training session.
     * Allowed: null, or at most 63 lower-case letters, digits and hyphens.
     * @default null
     */
    readonly outputModel?: string | null;
    /**
     * Training shape of a dedicated trainer, accounts/fireworks/trainingShapes/NAME: a trainer and a deployment are
     * created for the run and deleted at its end. null is serverless training.
     * Allowed: a non-empty string, or null.
     * @default null
     */
    readonly trainingShape?: string | null;
    /**
     * Copies of a dedicated trainer, which share each update.
     * Allowed: a whole number of at least 1 and at most 65536.
     * @default 1
     */
    readonly trainerReplicas?: number;
    /**
     * Copies of the model that sample for a dedicated trainer.
     * Allowed: a whole number of at least 1 and at most 65536.
     * @default 1
     */
    readonly deploymentReplicas?: number;
    /**
     * Region of a dedicated trainer and its deployment; null is the service's choice.
     * Allowed: a non-empty string, or null.
     * @default null
     */
    readonly region?: string | null;
    /**
     * Timeout in seconds for hardware of a dedicated trainer to be available.
     * Allowed: a number above 0.
     * @default 172800
     */
    readonly capacityTimeoutS?: number;
    /**
     * Timeout in seconds for a dedicated trainer to start once it has hardware, and for its deployment.
     * Allowed: a number above 0.
     * @default 3600
     */
    readonly readyTimeoutS?: number;
    /**
     * Timeout in seconds for the deployment of a dedicated trainer to load new weights.
     * Allowed: a number above 0.
     * @default 600
     */
    readonly weightSyncTimeoutS?: number;
    /**
     * Time in seconds without a request after which Fireworks ends a dedicated trainer, as it does when this process is
     * killed.
     * Allowed: a whole number of at least 60 and at most 10800.
     * @default 3600
     */
    readonly inactivityTimeoutS?: number;
    /**
     * Maximum number of samples requested from Fireworks at the same time.
     * Allowed: a whole number of at least 1 and at most 65536.
     * @default 64
     */
    readonly maxConcurrentSamples?: number;
    /**
     * Timeout in seconds for the result of one training request.
     * Allowed: a number above 0 and at most 86400.
     * @default 3600
     */
    readonly timeoutS?: number;
    /**
     * Time in seconds for which a request is repeated while Fireworks cannot be reached or is overloaded.
     * Allowed: a number above 0 and at most 86400.
     * @default 3600
     */
    readonly patienceS?: number;
  };
  /** Options of the backend verl, where the trainer creates it: by name, with backend=verl. */
  readonly verl?: {
    /**
     * Python interpreter that has verl installed; null is the one that `agent-trainer verl setup` made, else python3.
     * Allowed: a non-empty string, or null.
     * @default null
     */
    readonly python?: string | null;
    /**
     * How the bridge to verl starts: process is a child process, job a Ray job, attach connects to one that already
     * runs.
     * @default "process"
     */
    readonly launcher?: OrType<
      | {
          readonly type: "process";
        }
      | {
          readonly type: "job" | "attach";
          /**
           * URL of the bridge for attach (its token is read from AGENT_TRAINER_BRIDGE_TOKEN), or of Ray's dashboard for
           * job, where null is http://127.0.0.1:8265.
           * Allowed: a non-empty string, or null.
           * @default null
           */
          readonly url?: string | null;
        }
    >;
    /**
     * Address of Ray's head node, as HOST:6379; null is RAY_ADDRESS, else a new local Ray instance.
     * Allowed: a non-empty string, or null.
     * @default null
     */
    readonly rayAddress?: string | null;
    /**
     * GPUs of each machine that trains with verl.
     * Allowed: a whole number of at least 1 and at most 65536.
     * @default 8
     */
    readonly gpusPerNode?: number;
    /**
     * Machines that train with verl.
     * Allowed: a whole number of at least 1 and at most 65536.
     * @default 1
     */
    readonly nodes?: number;
    /**
     * Placement of verl's inference servers: colocated shares the GPUs with training, and servers sleep during updates;
     * disaggregated gives them separate GPUs.
     * @default "colocated"
     */
    readonly placement?: OrType<
      | {
          readonly type: "colocated";
        }
      | {
          readonly type: "disaggregated";
          /**
           * GPUs that sample, on each machine that does; null is verl.gpus_per_node.
           * Allowed: a whole number of at least 1 and at most 65536, or null.
           * @default null
           */
          readonly gpusPerNode?: number | null;
          /**
           * Machines that sample, or parts of machines.
           * Allowed: a whole number of at least 1 and at most 65536.
           * @default 1
           */
          readonly nodes?: number;
        }
    >;
    /**
     * Inference server of verl: vllm, sglang, or another that verl supports.
     * Allowed: a non-empty string.
     * @default "vllm"
     */
    readonly inference?: string;
    /**
     * Tensor parallelism of verl's inference servers: GPUs that share one copy of the model.
     * Allowed: a whole number of at least 1 and at most 65536.
     * @default 1
     */
    readonly tensorParallel?: number;
    /**
     * Python hook, module.function, that every process calls before it uses verl; null is none.
     * Allowed: a non-empty string, or null.
     * @default null
     */
    readonly setupHook?: string | null;
    /**
     * Timeout in seconds for verl to load models and start inference servers.
     * Allowed: a number above 0 and at most 86400.
     * @default 1800
     */
    readonly startTimeoutS?: number;
    /**
     * Timeout in seconds for one update, weight sync or checkpoint of verl.
     * Allowed: a number above 0 and at most 86400.
     * @default 3600
     */
    readonly timeoutS?: number;
    /**
     * Options that are passed on to verl unchanged: a tree under verl.config, as verl.config.actor_rollout_ref..., or a
     * list of Hydra overrides, key=value.
     * Allowed: a tree of verl's options, or a list of key=value.
     * @default []
     */
    readonly config?: readonly string[];
  };
  /**
   * Agent as path#export of a module: a flow, a workflow class, or an object with the agent options of AgentTrainer.
   * null only where code passes the agent.
   * Allowed: a non-empty string, or null.
   * @default null
   */
  readonly agent?: string | null;
  readonly agentCommand?: {
    /**
     * Command that is the agent, in place of agent: a text, or a list of words. Its files are relative to the
     * configuration file.
     * Allowed: a non-empty string, or a string, or null.
     * @default null
     */
    readonly run?: string | readonly string[] | null;
    /**
     * Start the command once, as an HTTP server that takes all rollouts, instead of once for each rollout.
     * @default false
     */
    readonly serves?: boolean;
    /**
     * Folder that the command runs in: own is a new empty one for each rollout, folder is that of the configuration
     * file.
     * @default "own"
     */
    readonly cwd?: "own" | "folder";
    /**
     * How the command's output becomes episode.output: as text, or parsed as JSON.
     * @default "text"
     */
    readonly output?: "text" | "json";
    /**
     * Limit in MiB on the resident memory of the command of one rollout and all that it starts, on Linux; null is none.
     * Allowed: a whole number of at least 1 and at most 16777216, or null.
     * @default null
     */
    readonly memoryMb?: number | null;
    /**
     * Limit in bytes on what the command of one rollout may write to its outputs.
     * Allowed: a whole number of at least 1 and at most 536870912.
     * @default 16777216
     */
    readonly maxOutputBytes?: number;
    /**
     * Names of environment variables that the command gets in addition to those of the model and what programs need to
     * run.
     * Allowed: a string.
     * @default []
     */
    readonly passEnv?: readonly string[];
  };
  /**
   * Evaluator as path#export of a module; null for agents that report their reward, and where code passes the agent.
   * Allowed: a non-empty string, or null.
   * @default null
   */
  readonly evaluator?: string | null;
  /**
   * What scores the rollouts of a task relative to each other, as path#export of a function of the task and its
   * episodes, such as relativeJudge(...) of agent-trainer/evaluators. Its scores are trained on in place of the
   * evaluator's, which validations still need. Code may pass it as groupEvaluator; null is none.
   * Allowed: a non-empty string, or null.
   * @default null
   */
  readonly groupEvaluator?: string | null;
  /**
   * Environment that gives tasks, tools, prompts and rewards: openenv:URL[#NAME], harbor:FOLDER, verifiers:NAME,
   * reasoning-gym:FAMILY, replay:FOLDER, mcp:COMMAND or mcp:URL, or path#export of a module. null is none.
   * Allowed: a non-empty string, or null.
   * @default null
   */
  readonly env?: string | null;
  readonly environment?: {
    /**
     * Split of the environment whose tasks are trained on, unless dataset.train is set.
     * Allowed: a non-empty string.
     * @default "train"
     */
    readonly split?: string;
    /**
     * Split of the environment whose tasks are validated on, unless dataset.val is set; null is no validation.
     * Allowed: a non-empty string, or null.
     * @default null
     */
    readonly valSplit?: string | null;
    /**
     * How the rewards of the calls of an episode make that of the rollout: their sum, or the last one. Each is a signal
     * as well.
     * @default "sum"
     */
    readonly reward?: "sum" | "last";
    /**
     * Maximum model calls of an episode, for the agent that is used where agent is null.
     * Allowed: a whole number of at least 1 and at most 100000.
     * @default 20
     */
    readonly maxTurns?: number;
    /**
     * System message before the prompt of the environment, for the agent that is used where agent is null; null is
     * none.
     * Allowed: a non-empty string, or null.
     * @default null
     */
    readonly systemPrompt?: string | null;
    /**
     * Maximum length of a result that the model sees, in characters; the middle of a longer one is omitted.
     * Allowed: a whole number of at least 100 and at most 1000000000.
     * @default 20000
     */
    readonly maxResultChars?: number;
    /**
     * Timeout in seconds of one call of the environment.
     * Allowed: a number above 0 and at most 2147483.
     * @default 300
     */
    readonly callTimeoutS?: number;
    /**
     * Python interpreter that has the packages verifiers or reasoning-gym, for verifiers: and reasoning-gym:
     * environments; null is the one of agent-trainer env setup, or else python3.
     * Allowed: a non-empty string, or null.
     * @default null
     */
    readonly python?: string | null;
  };
  readonly dataset?: {
    /**
     * Training dataset: a .jsonl, .json, .csv, .tsv or .parquet file, hf:OWNER/NAME[@REVISION][/CONFIG][:SPLIT] or a
     * map with hub, config, split and revision for one on a hub, or path#export of a module; null only where code
     * passes the tasks.
     * Allowed: a non-empty string, or a map with hub, or null.
     * @default null
     */
    readonly train?: string | null;
    /**
     * Validation dataset, as in dataset.train; null is no validation, unless code passes the tasks or
     * dataset.val_fraction is set.
     * Allowed: a non-empty string, or a map with hub, or null.
     * @default null
     */
    readonly val?: string | null;
    /**
     * Several sources of training tasks in place of dataset.train: each a dataset (train, val) or an environment (env,
     * split). weight is its exact share of the tasks of each step, limit its most tasks, evaluator what scores its
     * tasks. The name becomes metadata.data_source of its tasks.
     * Allowed: a map of names to maps of train or env, and weight, val, limit, evaluator and split, or a list of these
     * with name.
     * @default []
     */
    readonly sources?: readonly DataSource[];
    /**
     * Fields of a task, and the field of the rows that each is read from, as in {instruction: question, answer:
     * solution}; dots lead into maps and lists. Rows keep their other fields.
     * Allowed: a map of names to fields of the rows, or a list of name=field.
     * @default []
     */
    readonly fields?: readonly string[];
    /**
     * Skip rows that cannot be used, and count them in a warning; false stops the run before it starts.
     * @default false
     */
    readonly skipBadRows?: boolean;
    /**
     * Remove tasks that an earlier task of the same dataset is equal to, but for case and white space.
     * @default false
     */
    readonly deduplicate?: boolean;
    /**
     * Fraction of the training tasks to hold out for validation, picked at random, the same ones for every seed; 0 is
     * none.
     * Allowed: a number of at least 0 and below 1.
     * @default 0
     */
    readonly valFraction?: number;
    /**
     * Part of the training tasks to use, as index/count with the index from 0: 0/4 is every fourth task from the first
     * one; null is all.
     * Allowed: index/count such as 0/4, or null.
     * @default null
     */
    readonly shard?: string | null;
    /**
     * Maximum number of training tasks; null is all.
     * Allowed: a whole number of at least 1 and at most 1000000000, or null.
     * @default null
     */
    readonly limit?: number | null;
    /**
     * Maximum number of validation tasks; null is all.
     * Allowed: a whole number of at least 1 and at most 1000000000, or null.
     * @default null
     */
    readonly valLimit?: number | null;
    /**
     * Search for validation tasks that are also training tasks, but for case and white space, and warn with examples.
     * @default true
     */
    readonly leakCheck?: boolean;
  };
  readonly fineTuning?: {
    /**
     * What is learned from examples: sft is the cross-entropy of the assistant's tokens, dpo prefers the chosen of two
     * responses (arXiv:2305.18290), kto learns from responses that are each labelled as desirable or not
     * (arXiv:2402.01306).
     * @default "sft"
     */
    readonly loss?: OrType<
      | {
          readonly type: "sft";
        }
      | {
          readonly type: "dpo";
          /**
           * β of DPO and KTO: how strongly the policy is kept near the initial weights; TRL's default is 0.1.
           * Allowed: a number above 0.
           * @default 0.1
           */
          readonly beta?: number;
        }
      | {
          readonly type: "kto";
          /**
           * β of DPO and KTO: how strongly the policy is kept near the initial weights; TRL's default is 0.1.
           * Allowed: a number above 0.
           * @default 0.1
           */
          readonly beta?: number;
          /**
           * KTO's weight of the loss of desirable examples, where there are not as many of both kinds.
           * Allowed: a number above 0.
           * @default 1
           */
          readonly desirableWeight?: number;
          /**
           * KTO's weight of the loss of undesirable examples, where there are not as many of both kinds.
           * Allowed: a number above 0.
           * @default 1
           */
          readonly undesirableWeight?: number;
        }
    >;
    /**
     * Examples to fine-tune on, as in dataset.train: conversations for sft, pairs with chosen and rejected for dpo,
     * conversations with a label for kto. null only with fine_tuning.from_run, or where code passes them.
     * Allowed: a non-empty string, or null.
     * @default null
     */
    readonly train?: string | null;
    /**
     * Held-out examples for the validation loss, as fine_tuning.train; null is none.
     * Allowed: a non-empty string, or null.
     * @default null
     */
    readonly val?: string | null;
    /**
     * Fraction of the examples to hold out for the validation loss, picked at random by data.seed; 0 is none.
     * Allowed: a number of at least 0 and below 1.
     * @default 0
     */
    readonly valFraction?: number;
    /**
     * Whether each validation also runs the agent on the tasks of dataset.val: val/reward/mean and others are measured
     * next to the loss, and trainer.best_metric decides which checkpoint is the best and when to stop early.
     * @default false
     */
    readonly rewards?: boolean;
    /**
     * Folder of a run or an evaluation whose recorded episodes are the examples: the good ones for sft, the best and
     * the worst of each task for dpo, good and bad ones for kto.
     * Allowed: a non-empty string, or null.
     * @default null
     */
    readonly fromRun?: string | null;
    /**
     * Minimum reward of an episode of fine_tuning.from_run, with kto of a desirable one; null takes those that the
     * evaluator called correct, and for dpo every task with different rewards.
     * Allowed: a number, or null.
     * @default null
     */
    readonly minReward?: number | null;
    /**
     * Assistant messages that are trained on: all of a conversation, or the last. A message with weight 0 is context in
     * either case.
     * @default "all"
     */
    readonly trainOn?: "all" | "last";
    /**
     * Maximum tokens of an example; longer ones are left out and counted in a warning. null is the model's context
     * length.
     * Allowed: a whole number of at least 2 and at most 16777216, or null.
     * @default null
     */
    readonly maxLength?: number | null;
    /**
     * Skip examples that cannot be used, and count them in a warning; false stops the run before it starts.
     * @default false
     */
    readonly skipBadRows?: boolean;
    /**
     * Consecutive validations without a lower loss after which fine-tuning stops; 0 takes
     * trainer.early_stopping_patience.
     * Allowed: a whole number of at least 0 and at most 1000000000.
     * @default 0
     */
    readonly patience?: number;
  };
  readonly distillation?: {
    /**
     * Teacher of on-policy distillation (arXiv:2306.13649), with the policy's tokenizer: a model as in model.name, or
     * the URL of a vLLM server. Each sampled token's advantage is log p(teacher) − log p(policy). self is the policy,
     * which reads distillation.hint as well (arXiv:2601.18734, arXiv:2601.19897). null is off.
     * Allowed: a non-empty string, or null.
     * @default null
     */
    readonly teacher?: string | null;
    /**
     * Backend that runs a teacher that is not a URL, as in backend.
     * Allowed: a non-empty string.
     * @default "local"
     */
    readonly backend?: string;
    /**
     * The teacher as its server names it; null is what the server lists first.
     * Allowed: a non-empty string, or null.
     * @default null
     */
    readonly teacherModel?: string | null;
    /**
     * What the policy as its own teacher reads in addition to the prompt: a field of task.metadata, such as answer
     * (dots lead into maps), which is appended to its last user message after the words: The answer is; or path#export
     * of a function of task and episode that returns the text to append. A rollout without a hint teaches nothing. null
     * is none.
     * Allowed: a non-empty string, or null.
     * @default null
     */
    readonly hint?: string | null;
    /**
     * What falls with the teacher's advantages: reverse is KL(policy, teacher), forward KL(teacher, policy), which has
     * a larger variance.
     * @default "reverse"
     */
    readonly divergence?: "reverse" | "forward";
    /**
     * Factor on the advantages from the teacher.
     * Allowed: a number above 0.
     * @default 1
     */
    readonly coef?: number;
    /**
     * Discount of the later tokens' advantages that are added to each token's, within a response; 0 is none.
     * Allowed: a number of at least 0 and at most 1.
     * @default 0
     */
    readonly discount?: number;
    /**
     * Limit of the teacher's advantage of a token, in both directions; null is none.
     * Allowed: a number above 0, or null.
     * @default null
     */
    readonly clip?: number | null;
    /**
     * Add the teacher's advantages to those of algorithm.estimator; false replaces them.
     * @default false
     */
    readonly useReward?: boolean;
    /**
     * Seconds that a teacher's server may take for one sequence.
     * Allowed: a whole number of at least 1 and at most 2147483.
     * @default 120
     */
    readonly timeoutS?: number;
    /**
     * Sequences that are sent to a teacher's server at the same time.
     * Allowed: a whole number of at least 1 and at most 65536.
     * @default 8
     */
    readonly concurrency?: number;
  };
}

/** Options of `algorithm` that are values. */
export interface AlgorithmValues {
  /**
   * How token losses are aggregated into one number: token-mean as DAPO recommends (arXiv:2503.14476),
   * seq-mean-token-mean as in GRPO (arXiv:2402.03300), seq-mean-token-sum-norm as in Dr. GRPO (arXiv:2503.20783).
   * @default "token-mean"
   */
  readonly aggregation?: OrType<
    | {
        readonly type: "token-mean" | "token-sum" | "seq-mean-token-sum" | "seq-mean-token-mean";
      }
    | {
        readonly type: "seq-mean-token-sum-norm";
        /**
         * Constant length in tokens to divide by; Dr. GRPO recommends the longest response allowed (arXiv:2503.20783).
         * null uses the longest trained span of each mini-batch, where verl uses the padded width.
         * Allowed: a number above 0, or null.
         * @default null
         */
        readonly length?: number | null;
      }
  >;
  /**
   * Which policy is trained when rollout.train.temperature is not 1: sampling, the one that samples, softmax(logits /
   * temperature), as in verl and TRL; one, that at temperature 1, although another one sampled.
   * @default "sampling"
   */
  readonly logprobTemperature?: "sampling" | "one";
  /**
   * Coefficient of the KL penalty to the reference model in the loss; 0 is off, as in DAPO (arXiv:2503.14476). The GRPO
   * paper uses 0.04 (arXiv:2402.03300), DeepSeek-R1 0.001 (arXiv:2501.12948).
   * Allowed: a number of at least 0.
   * @default 0
   */
  readonly klBeta?: number;
  /**
   * Estimator of the KL penalty in the loss (algorithm.kl_beta), per sampled token: k1, k2 or k3, verl's low_var_kl and
   * the one of GRPO (arXiv:2402.03300). k1 hardly constrains the policy: its gradient is 0 on average.
   * @default "k3"
   */
  readonly klEstimator?: "k1" | "k2" | "k3";
  /**
   * Coefficient of the entropy bonus in the loss, which rewards a high entropy of the policy, in nats per trained
   * token; 0 is off.
   * Allowed: a number of at least 0.
   * @default 0
   */
  readonly entropyCoef?: number;
  /**
   * Weights of the cross-entropy of what the environment answers, by role of the message, as in {tool: 0.05} (ECHO,
   * arXiv:2605.24517, which recommends 0.01 to 0.05); added to the policy loss as a mean over the contents of messages
   * that follow a response. Empty is off.
   * Allowed: a map of message roles to numbers from 0 on, or a list of name=number.
   * @default []
   */
  readonly observationLoss?: readonly string[];
  /**
   * Exclude groups whose advantages are all 0, as with equal rewards, from training, as DAPO does (arXiv:2503.14476),
   * after the estimator has seen them. null excludes them unless a role uses reinforce, reinforce_plus_plus, prpo or
   * gae, which do not compare within groups.
   * Allowed: true or false, or null.
   * @default null
   */
  readonly filterUniformGroups?: boolean | null;
  /**
   * Use the advantages that flows report with their steps; groups without any are estimated with algorithm.estimator.
   * false ignores reported advantages.
   * @default false
   */
  readonly usePrecomputedAdvantage?: boolean;
  /**
   * Subtract the KL divergence to the reference model, summed over the sampled tokens and multiplied by
   * algorithm.kl_ctrl.kl_coef, from each reward (arXiv:1909.08593).
   * @default false
   */
  readonly useKlInReward?: boolean;
  /**
   * Estimator of the KL divergence that algorithm.use_kl_in_reward subtracts, per sampled token: k1 (log-ratio, the
   * usual one), k2 or k3.
   * @default "k1"
   */
  readonly klPenalty?: "k1" | "k2" | "k3";
  readonly klCtrl?: {
    /**
     * Coefficient of the KL divergence that algorithm.use_kl_in_reward subtracts; verl's default is 0.001.
     * Allowed: a number of at least 0.
     * @default 0.001
     */
    readonly klCoef?: number;
  };
  readonly overlongBuffer?: {
    /**
     * Penalize responses close to the length limit: the soft overlong penalty of DAPO (arXiv:2503.14476).
     * @default false
     */
    readonly enable?: boolean;
    /**
     * Length of the overlong penalty's linear ramp before algorithm.overlong_buffer.max_length, in tokens; DAPO uses
     * 4096 of 20480 (arXiv:2503.14476).
     * Allowed: a whole number of at least 1 and at most 16777216.
     * @default 128
     */
    readonly len?: number;
    /**
     * Overlong penalty at algorithm.overlong_buffer.max_length, subtracted from the reward; DAPO uses 1
     * (arXiv:2503.14476).
     * Allowed: a number of at least 0.
     * @default 1
     */
    readonly penaltyFactor?: number;
    /**
     * Length limit of one response for the overlong penalty, in tokens; null is rollout.train.max_tokens.
     * Allowed: a whole number of at least 1 and at most 16777216, or null.
     * @default null
     */
    readonly maxLength?: number | null;
  };
  /**
   * Exclude rows with a truncated response from training, as DAPO's overlong filtering does (arXiv:2503.14476): a whole
   * trajectory, or only the summary or sub-agent that was cut off. Their trajectories still count in their group's
   * baseline.
   * @default false
   */
  readonly maskTruncatedSamples?: boolean;
  /**
   * Termination reasons whose rollouts are excluded from training and from the baseline of their group; rLLM's compact
   * filtering excludes all but env_done and unknown. A function reports max_turns_exceeded with a TerminationEvent.
   * Failures other than error, which is the agent's, are always excluded.
   * Allowed: a list of max_prompt_length_exceeded, max_response_length_exceeded, env_done, max_turns_exceeded, timeout,
   * unknown, error.
   * @default []
   */
  readonly excludedReasons?: readonly (
    | "max_prompt_length_exceeded"
    | "max_response_length_exceeded"
    | "env_done"
    | "max_turns_exceeded"
    | "timeout"
    | "unknown"
    | "error"
  )[];
  /**
   * Correction for rollouts that other weights sampled. none: the loss's ratios are to the sampler's log-probabilities;
   * recompute: to those of the trainer at the start of the step, which costs a forward pass; token and sequence: as
   * recompute, and the loss is multiplied by the trainer's probability over the sampler's, per token or sequence
   * (truncated importance sampling).
   * @default "none"
   */
  readonly rolloutCorrection?: OrType<
    | {
        readonly type: "none" | "recompute";
        /**
         * Rejection of tokens (token_...) or whole rows (seq_...) whose log-ratio of trainer to sampler, as k1, k2 or
         * k3, is beyond a threshold: a maximum for k2 and k3; for k1 a range low_high of the sampler's probability over
         * the trainer's, as in verl since 0.7.1, or t for 1/t to t. Empty is off.
         * Allowed: a map of token_k1, token_k2, token_k3, seq_sum_k1, seq_sum_k2, seq_sum_k3, seq_mean_k1, seq_mean_k2,
         * seq_mean_k3, seq_max_k2, seq_max_k3 to thresholds, or a list of name=threshold.
         * @default []
         */
        readonly reject?: readonly string[];
        /**
         * Drop rows with any token whose probability ratio of trainer to sampler is below this; null is off.
         * Allowed: a number above 0 and below 1, or null.
         * @default null
         */
        readonly rolloutTokenVetoThreshold?: number | null;
      }
    | {
        readonly type: "token" | "sequence";
        /**
         * Maximum importance weight; 2 is rLLM's default. A range low_high sets weights outside of it to 0 instead;
         * that is IcePop (arXiv:2510.18855), for which verl's documentation gives 0.5_5.
         * Allowed: a number above 0, or two as low_high.
         * @default 2
         */
        readonly cap?: number | string;
        /**
         * Divide the importance weights by their mean over the step, over tokens or over sequences.
         * @default false
         */
        readonly batchNormalize?: boolean;
        /**
         * Rejection of tokens (token_...) or whole rows (seq_...) whose log-ratio of trainer to sampler, as k1, k2 or
         * k3, is beyond a threshold: a maximum for k2 and k3; for k1 a range low_high of the sampler's probability over
         * the trainer's, as in verl since 0.7.1, or t for 1/t to t. Empty is off.
         * Allowed: a map of token_k1, token_k2, token_k3, seq_sum_k1, seq_sum_k2, seq_sum_k3, seq_mean_k1, seq_mean_k2,
         * seq_mean_k3, seq_max_k2, seq_max_k3 to thresholds, or a list of name=threshold.
         * @default []
         */
        readonly reject?: readonly string[];
        /**
         * Drop rows with any token whose probability ratio of trainer to sampler is below this; null is off.
         * Allowed: a number above 0 and below 1, or null.
         * @default null
         */
        readonly rolloutTokenVetoThreshold?: number | null;
      }
  >;
}

/** Options of `algorithm` that name functions. */
export interface AlgorithmNames {
  /**
   * How rewards become advantages, such as grpo (arXiv:2402.03300) or rloo (arXiv:2402.14740), which compare the
   * rollouts of a group, or gae (arXiv:1506.02438), which compares with the values of a critic.
   * Allowed: one of grpo, reinforce, rloo, reinforce_plus_plus, reinforce_plus_plus_baseline, prpo, opo, gpg, maxrl,
   * grpo_passk, gdpo, gae, or path#export of a function.
   * @default "grpo"
   */
  readonly estimator?: OrType<
    | {
        readonly type: "grpo" | "grpo_passk" | `${string}#${string}`;
        /**
         * Divide GRPO advantages by the standard deviation of the group's rewards; false is Dr. GRPO, which recommends
         * not to (arXiv:2503.20783).
         * @default true
         */
        readonly normByStd?: boolean;
      }
    | {
        readonly type:
          | "reinforce"
          | "rloo"
          | "reinforce_plus_plus"
          | "reinforce_plus_plus_baseline"
          | "prpo"
          | "opo"
          | "gpg"
          | "maxrl";
      }
    | {
        readonly type: "gdpo";
        /**
         * Weights of an evaluator's signals, each normalized within its group before their weighted sum (GDPO,
         * arXiv:2601.05242), as in {correct: 1, short: 0.5}; the name reward is the reward itself. Empty is every
         * signal with the weight 1, or the reward where there are none.
         * Allowed: a map of signals to numbers, or a list of name=number.
         * @default []
         */
        readonly weights?: readonly string[];
      }
    | {
        readonly type: "gae";
        /**
         * Discount γ of GAE, per sampled token (arXiv:1506.02438): 1 is no discount, as in verl; 0.99 forgets a reward
         * within some hundred tokens.
         * Allowed: a number of at least 0 and at most 1.
         * @default 1
         */
        readonly gamma?: number;
        /**
         * λ of GAE: 1 compares the whole return with the critic's value, 0 trusts the value of the next token alone
         * (arXiv:1506.02438). verl's default is 1; VAPO recommends 1 for the critic and less for long responses
         * (arXiv:2504.05118).
         * Allowed: a number of at least 0 and at most 1.
         * @default 1
         */
        readonly lambda?: number;
        /**
         * Scale GAE's advantages to mean 0 and variance 1 over all sampled tokens of a role, as verl does; false leaves
         * them as they are.
         * @default true
         */
        readonly whiten?: boolean;
        /**
         * Steps at the beginning of a run in which only the critic of GAE learns and the policy stays as it is, as
         * verl's trainer.critic_warmup.
         * Allowed: a whole number of at least 0 and at most 1000000000.
         * @default 0
         */
        readonly criticWarmup?: number;
        /**
         * Learning rate of the critic; it has no schedule. Its AdamW is otherwise that of the policy, without weight
         * decay. null is 0.002 on local, whose critic is a gated layer on the hidden states of the policy, and 1e-5 on
         * verl, whose critic is a whole model.
         * Allowed: a number above 0, or null.
         * @default null
         */
        readonly valueLearningRate?: number | null;
        /**
         * Optimizer steps of the critic in each update, all on the rows of the update. null is 16 on local, where they
         * are cheap since the policy's hidden states are computed once, and 1 on verl, where each goes through the
         * whole critic.
         * Allowed: a whole number of at least 1 and at most 1000, or null.
         * @default null
         */
        readonly valueEpochs?: number | null;
        /**
         * Values are clipped to this distance from those of before the update, as in PPO (arXiv:1707.06347); 0.5 is
         * verl's cliprange_value. null is off.
         * Allowed: a number above 0, or null.
         * @default 0.5
         */
        readonly valueClip?: number | null;
      }
  >;
  /**
   * Advantage estimators for single roles, which override algorithm.estimator, as {role: estimator}; an estimator is a
   * name, or a map with type and its options. gae is for algorithm.estimator alone.
   * Allowed: a map of roles to estimators, or a list of role=estimator.
   * @default []
   */
  readonly estimatorByRole?: readonly EstimatorOfRole[];
  /**
   * Policy loss: ppo (clipped ratios), cispo, gspo, gmpo, sapo, dro, importance_sampling (no clip) or cross_entropy
   * (ignores rewards); the formulas are in docs/algorithms.md.
   * Allowed: one of importance_sampling, ppo, cispo, gspo, gmpo, sapo, dro, cross_entropy, or path#export of a
   * function.
   * @default "ppo"
   */
  readonly loss?: OrType<
    | {
        readonly type: "importance_sampling" | "cross_entropy" | `${string}#${string}`;
      }
    | {
        readonly type: "ppo";
        /**
         * Lower clip range: probability ratios are clipped below 1 - eps_clip (in gmpo below exp(-eps_clip)); null is
         * the default of the loss: 0.2 as in PPO (arXiv:1707.06347), 3e-4 in gspo (arXiv:2507.18071). For gmpo its
         * paper recommends 0.4 (arXiv:2507.20673).
         * Allowed: a number of at least 0 and at most 1, or null.
         * @default null
         */
        readonly epsClip?: number | null;
        /**
         * Upper clip range: probability ratios are clipped above 1 + eps_clip_high (in gmpo above exp(eps_clip_high));
         * DAPO recommends 0.28 for ppo (arXiv:2503.14476). null uses eps_clip, and where that is null too, the default
         * of the loss: 0.2, or 4e-4 in gspo (arXiv:2507.18071).
         * Allowed: a number of at least 0 and at most 10, or null.
         * @default null
         */
        readonly epsClipHigh?: number | null;
        /**
         * Dual-clip PPO: the loss of a token with a negative advantage A is at most clip_ratio_c · |A|
         * (arXiv:1912.09729); verl's default is 3. null is off.
         * Allowed: a number above 1, or null.
         * @default null
         */
        readonly clipRatioC?: number | null;
      }
    | {
        readonly type: "cispo" | "gspo" | "gmpo";
        /**
         * Lower clip range: probability ratios are clipped below 1 - eps_clip (in gmpo below exp(-eps_clip)); null is
         * the default of the loss: 0.2 as in PPO (arXiv:1707.06347), 3e-4 in gspo (arXiv:2507.18071). For gmpo its
         * paper recommends 0.4 (arXiv:2507.20673).
         * Allowed: a number of at least 0 and at most 1, or null.
         * @default null
         */
        readonly epsClip?: number | null;
        /**
         * Upper clip range: probability ratios are clipped above 1 + eps_clip_high (in gmpo above exp(eps_clip_high));
         * DAPO recommends 0.28 for ppo (arXiv:2503.14476). null uses eps_clip, and where that is null too, the default
         * of the loss: 0.2, or 4e-4 in gspo (arXiv:2507.18071).
         * Allowed: a number of at least 0 and at most 10, or null.
         * @default null
         */
        readonly epsClipHigh?: number | null;
      }
    | {
        readonly type: "sapo";
        /**
         * Temperature of the sigmoid gate for tokens with a positive advantage; SAPO's paper recommends 1
         * (arXiv:2511.20347).
         * Allowed: a number above 0.
         * @default 1
         */
        readonly tauPos?: number;
        /**
         * Temperature of the sigmoid gate for tokens whose advantage is not positive; SAPO's paper recommends 1.05
         * (arXiv:2511.20347).
         * Allowed: a number above 0.
         * @default 1.05
         */
        readonly tauNeg?: number;
      }
    | {
        readonly type: "dro";
        /**
         * Coefficient β of DRO, the weight of its quadratic penalty: (β / 2) · (log-ratio)² per token
         * (arXiv:2405.19107).
         * Allowed: a number above 0.
         * @default 0.05
         */
        readonly beta?: number;
      }
  >;
  /**
   * Policy losses for single roles, which override algorithm.loss, as {role: loss}; a loss is a name, or a map with
   * type and its options.
   * Allowed: a map of roles to losses, or a list of role=loss.
   * @default []
   */
  readonly lossByRole?: readonly LossOfRole[];
}

/** A source of tasks: an entry of `dataset.sources`. */
export interface DataSource {
  /** Of the source, and `metadata.data_source` of its tasks. */
  readonly name: string;
  /**
   * Training dataset, as in `dataset.train`; null where `env` has the tasks.
   * @default null
   */
  readonly train?: string | null;
  /**
   * Validation dataset, as in `dataset.val`; null is no validation on this source.
   * @default null
   */
  readonly val?: string | null;
  /**
   * Share of the tasks of each step, relative to the other sources'. Above 0.
   * @default 1
   */
  readonly weight?: number;
  /**
   * Most training tasks, and most validation tasks; null is all.
   * @default null
   */
  readonly limit?: number | null;
  /**
   * Scores its tasks, as in `evaluator`; null is that of the run or the environment.
   * @default null
   */
  readonly evaluator?: string | null;
  /**
   * Environment of its tasks, as in `env`.
   * @default null
   */
  readonly env?: string | null;
  /**
   * Split of `env` whose tasks are trained on, where `train` is null.
   * @default "train"
   */
  readonly split?: string;
}

/** One of several types, each with separate options, or the type alone for their defaults. */
type OrType<T extends { readonly type: string }> = T | T["type"];

/** Of {@link OrType} the long form. */
type WithType<T> = [Extract<T, { readonly type: string }>] extends [never]
  ? T
  : Extract<T, { readonly type: string }>;

/** The same options, none of them optional. */
type Complete<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]-?: Complete<WithType<T[K]>> }
    : T;

/** The advantage estimator of one role. */
export type EstimatorOfRole = TrainConfig["algorithm"]["estimator"] & { readonly role: string };

/** The policy loss of one role. */
export type LossOfRole = TrainConfig["algorithm"]["loss"] & { readonly role: string };

/** The options of a run, checked, every default filled in. */
export interface TrainConfig extends Complete<Sections> {
  /** What is learned from a step's rollouts, and how. */
  readonly algorithm: Complete<AlgorithmValues & AlgorithmNames>;
}

/** Corrections for rollouts that were not sampled by exactly the weights that are trained. */
export type RolloutCorrectionOptions = TrainConfig["algorithm"]["rolloutCorrection"];
