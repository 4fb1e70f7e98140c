import { parse } from "yaml";
import { describe, expect, it } from "vitest";
import { configFields } from "../fields.ts";
import { compatKeys } from "./compat-keys.ts";
import { loadConfig } from "../load.ts";
import type { TrainConfig } from "../train-config.ts";

const load = (tree: Record<string, unknown>): TrainConfig =>
  loadConfig({ overrides: { "model.name": "m", ...tree } }).config;

// The keys of rLLM's own base file, with their defaults.
const rllmBase = `
rllm:
  data: {train_batch_size: 64, val_batch_size: -1, max_prompt_length: 2048, max_response_length: 1024, seed: 0}
  agent: {name: math_agent, max_steps: 20, trajectory_timeout: null, overlong_filter: false, agent_args: {}, engine_args: {}}
  env: {name: custom, env_args: {}}
  workflow:
    use_workflow: false
    name: single_turn_workflow
    workflow_args: {agent_cls: null, agent_args: {}, env_cls: null, env_args: {}, timeout: 1e6, gamma: 0.0, reward_bonus_coeff: 0.0}
    n_parallel_tasks: 256
    retry_limit: 3
    raise_on_error: true
    warm_queue_size: -1
  rollout:
    n: 8
    n_val: 1
    train: {temperature: 1.0, top_p: 1.0, max_tokens: "\${rllm.data.max_response_length}"}
    val: {temperature: 0.6, top_p: 0.95, max_tokens: "\${rllm.data.max_response_length}"}
  trainer:
    total_epochs: 10
    total_batches: -1
    logger: [console]
    project_name: rllm-training
    experiment_name: default
    test_freq: 5
    save_freq: 20
    val_before_train: false
    val_only: false
  algorithm:
    adv_estimator: grpo
    norm_adv_by_std_in_grpo: true
    use_rllm: null
    use_precomputed_advantage: false
    loss_fn: null
    loss_agg_mode: null
    lr_schedule: linear
    warmup_steps: -1
    warmup_steps_ratio: 0.1
    kl_beta: 0.0
    eps_clip: 0.2
    eps_clip_high: null
    env_loss_coef: null
    router_replay: disabled
    rollout_correction: {bypass_mode: null, tis_mode: null, tis_cap: 2.0}
  stepwise_advantage: {enable: false, mode: broadcast, normalize_by_steps: false}
  disable_thinking: false
  accumulate_reasoning: false
  mask_truncated_samples: false
  filter_token_mismatch: true
  compact_filtering: {enable: false, mask_max_prompt_length_exceeded: true, mask_max_response_length_exceeded: true, mask_env_done: false, mask_max_turns_exceeded: true, mask_timeout: true, mask_unknown: false, mask_error: true, mask_verifier_timeout: true, mask_grading_error: true, mask_sandbox_error: true, mask_agent_setup_timeout: true, mask_env_start_timeout: true, mask_model_error: true}
  rejection_sample: {enable: false, multiplier: 1, min_partial_solve_tasks: 1, min_trajs_per_group: 2, filter_uniform_groups: false}
  remote_runtime: {enabled: false, backend: agentcore, session_timeout: 300}
  gateway: {port: 9090, host: null, tunnel: null, store: memory, cumulative_token_mode: false}
  async_training: {enable: false, mini_batch_size: 64, fwd_bwd_group_size: null, staleness_threshold: 0.0, trigger_parameter_sync_step: 1, partial_rollout: false, episode_offload_dir: null}
  episode_logging: {log_episodes: false}
model: {name: Qwen/Qwen3-0.6B, lora_rank: 32}
training: {group_size: 4, learning_rate: 2.0e-5, beta1: 0.9, beta2: 0.95, eps: 1.0e-8}
validation: {group_size: 2}
`;

describe("a file of rLLM", () => {
  it("loads, each key supported or reported to have no effect", () => {
    const tree = parse(rllmBase) as Record<string, unknown>;
    const { rllm, ...native } = tree as { rllm: { rollout: object } };
    // What rLLM writes as a reference to the group sizes.
    const { n: _, n_val: __, ...rollout } = rllm.rollout as Record<string, unknown>;
    const { config, warnings } = loadConfig({
      overrides: { ...native, rllm: { ...rllm, rollout } },
    });
    expect(config.rollout).toMatchObject({
      n: 4,
      nVal: 2,
      train: { maxTokens: 1024 },
      val: { temperature: 0.6, topP: 0.95, maxTokens: 1024 },
    });
    expect(config.data.maxPromptLength).toBe(2048);
    expect(config.model).toMatchObject({ name: "Qwen/Qwen3-0.6B", loraRank: 32 });
    expect(config.training).toMatchObject({
      learningRate: 2e-5,
      lrSchedule: { type: "linear", warmup: 0.1, minRatio: 0 },
    });
    expect(config.workflow).toMatchObject({
      nParallelTasks: 256,
      retryLimit: 2,
      timeoutS: 1_000_000,
    });
    expect(config.trainer).toMatchObject({ maxFailedFraction: 0, totalEpochs: 10, testFreq: 5 });
    expect(config.algorithm.filterUniformGroups).toBe(false);
    expect(config.algorithm.loss.type).toBe("ppo");
    // Of what has no effect here, all has its default.
    expect(warnings.filter((text) => !text.includes("it needs"))).toEqual([]);
    expect(config.tracking).toMatchObject({ project: "rllm-training", trackers: [] });
    expect(config.gateway).toEqual({ host: null, port: 9090, publicUrl: null });
    // It sets options of what it switches off.
    expect(warnings).toContain(
      "async_training.mini_batch_size=64 has no effect: it needs async_training.enable=true.",
    );
  });
});

describe("verl's names", () => {
  it("are ours where they mean the same", () => {
    const { algorithm, training, rollout, verl } = load({
      actor_rollout_ref: {
        actor: {
          clip_ratio: 0.1,
          clip_ratio_high: 0.28,
          clip_ratio_c: 3,
          kl_loss_coef: 0.01,
          kl_loss_type: "low_var_kl",
          entropy_coeff: 0.001,
          loss_agg_mode: "seq-mean-token-mean",
          policy_loss: { loss_mode: "vanilla" },
          optim: { lr: 1e-6, lr_warmup_steps: -1, weight_decay: 0.1 },
          fsdp_config: { param_offload: true },
        },
        rollout: { n: 5, top_k: -1, response_length: 77, val_kwargs: { temperature: 0 } },
      },
      trainer: { nnodes: 2, n_gpus_per_node: 4 },
    });
    expect(algorithm).toMatchObject({
      loss: { type: "ppo", epsClip: 0.1, epsClipHigh: 0.28, clipRatioC: 3 },
      klBeta: 0.01,
      klEstimator: "k3",
      entropyCoef: 0.001,
      aggregation: { type: "seq-mean-token-mean" },
    });
    expect(training).toMatchObject({
      learningRate: 1e-6,
      lrSchedule: { type: "constant", warmup: 0 },
      weightDecay: 0.1,
    });
    expect(rollout).toMatchObject({
      n: 5,
      train: { topK: 0, maxTokens: 77 },
      val: { temperature: 0 },
    });
    expect(verl).toMatchObject({ nodes: 2, gpusPerNode: 4 });
    // What has no name here is passed on.
    expect(verl.config).toEqual(["actor_rollout_ref.actor.fsdp_config.param_offload=true"]);
  });
  it("of rollout correction are rLLM's", () => {
    const { rolloutCorrection } = load({
      "algorithm.rollout_correction": { rollout_is: "token", rollout_is_threshold: "0.5_2.0" },
    }).algorithm;
    expect(rolloutCorrection).toMatchObject({ type: "token", cap: "0.5_2.0" });
  });
});

describe("rLLM's compact filtering", () => {
  const usual = [
    "max_prompt_length_exceeded",
    "max_response_length_exceeded",
    "max_turns_exceeded",
    "timeout",
    "error",
  ];
  it.each([
    [{ enable: true }, usual],
    [
      { mask_error: false, enable: true, mask_env_done: true },
      [...usual.slice(0, 2), "env_done", ...usual.slice(2, 4)],
    ],
    [{ enable: false, mask_error: true }, []],
    [{ enable: null }, []],
  ])("%j excludes %j", (given, expected) => {
    expect(load({ "rllm.compact_filtering": given }).algorithm.excludedReasons).toEqual(expected);
  });
  it("says which masks have no effect, and refuses what there is not", () => {
    const overrides = ["model.name=m", "compact_filtering.mask_error=false"];
    expect(loadConfig({ overrides }).warnings).toEqual([
      "compact_filtering.mask_error has no effect: compact_filtering.enable is not true.",
    ]);
    expect(() => load({ "compact_filtering.mask_eror": true })).toThrow(
      "compact_filtering.mask_eror",
    );
    expect(() => load({ "compact_filtering.enable": 1 })).toThrow("must be true or false; got 1");
  });
  it("yields to our own option", () => {
    const own = { "algorithm.excluded_reasons": ["timeout"] };
    expect(load({ "compact_filtering.enable": true, ...own }).algorithm.excludedReasons).toEqual([
      "timeout",
    ]);
  });
});

describe("options that are gone", () => {
  it("are accepted, and named unless they have their old default", () => {
    const warningsOf = (overrides: readonly string[]) =>
      loadConfig({ overrides: ["model.name=m", "data.curriculum=solve_rate", ...overrides] })
        .warnings;
    const usual = ["data.curriculum.half_life=20", "dataset.shuffle=false", "replay.tasks=0"];
    expect(warningsOf(usual)).toEqual([]);
    const other = ["data.curriculum.sampling=expected", "dataset.split_seed=3", "replay.tasks=2"];
    const warnings = warningsOf(other);
    expect(warnings).toHaveLength(1);
    for (const pair of other) expect(warnings[0]).toContain(pair.split("=")[0]);
  });
  it("and modes that are gone are those that there are", () => {
    for (const [mode, is] of [
      ["none", false],
      ["exact", true],
      ["near", true],
    ]) {
      const { dataset } = load({ "dataset.deduplicate": mode, "dataset.leak_check": mode });
      expect([dataset.deduplicate, dataset.leakCheck]).toEqual([is, is]);
    }
  });
});

describe("the names of the page that this package follows", () => {
  const named = {
    "training.total_epochs": 3,
    "training.save_freq": 7,
    "training.val_freq": 2,
    "training.lr": 2e-5,
    "algorithm.name": "rloo",
    "algorithm.group_size": 6,
  };
  it.each(["", "rllm."])("with %j before them are the options that they are", (prefix) => {
    const config = load(
      Object.fromEntries(Object.entries(named).map(([key, value]) => [prefix + key, value])),
    );
    expect(config.trainer).toMatchObject({ totalEpochs: 3, saveFreq: 7, testFreq: 2 });
    expect(config.training.learningRate).toBe(2e-5);
    expect(config.algorithm.estimator).toEqual({ type: "rloo" });
    expect(config.rollout.n).toBe(6);
  });
  it("are checked as the options are, and messages say both names", () => {
    expect(() => load({ "training.val_freq": "often" })).toThrow(
      'trainer.test_freq (given as training.val_freq) must be a whole number of at least 0 and at most 1000000000; got "often".',
    );
    expect(() => load({ "algorithm.name": "grop" })).toThrow("Did you mean grpo?");
  });
  it("take trainer.val_freq for trainer.test_freq", () => {
    expect(load({ "trainer.val_freq": 4 }).trainer).toMatchObject({ testFreq: 4, saveFreq: 10 });
    expect(() => load({ "trainer.val_frq": 4 })).toThrow("Did you mean trainer.test_freq?");
  });
});

describe("keys of others", () => {
  it.each([
    [{ "rllm.algorithm.router_replay": "R2" }, 'It must be "disabled"'],
    [{ "rllm.disable_thinking": true }, "rllm.disable_thinking=true is not supported"],
    // What docs/structured-output.md says of thinking.
    [{ "rllm.disable_thinking": true }, "chat_template_kwargs: {enable_thinking: false}"],
    [{ "algorithm.gamma": 0.99 }, "use stepwise_advantage.gamma"],
    [{ "rllm.trainer.logger": ["console", "swanlab"] }, "tracking.trackers"],
  ])("%j is refused by name", (tree, message) => {
    const known = configFields().some(({ key }) => `rllm.${key}` in tree || key in tree);
    if (known) return;
    expect(() => load(tree as Record<string, unknown>)).toThrow(message);
  });
  it("say how many are refused, all at once", () => {
    expect(() => load({ "rllm.disable_thinking": true, "algorithm.gamma": 0.9 })).toThrow(
      "The configuration has 2 problems:",
    );
  });
  it("win over an earlier layer, whatever it calls the option", () => {
    const overrides = ["model.name=m", "rollout.n=3", "training.group_size=5"];
    expect(loadConfig({ overrides }).config.rollout.n).toBe(5);
    expect(loadConfig({ overrides: [...overrides, "rllm.rollout.n=7"] }).config.rollout.n).toBe(7);
    expect(loadConfig({ overrides: [...overrides, "~rollout.n"] }).config.rollout.n).toBe(8);
  });
  it("do not contradict each other in one layer", () => {
    const actor = { grad_clip: 0.1, optim: { clip_grad: 0.2 } };
    expect(() => load({ actor_rollout_ref: { actor } })).toThrow(
      "actor_rollout_ref.actor.grad_clip and actor_rollout_ref.actor.optim.clip_grad both set training.max_grad_norm",
    );
    // Our own key wins over one that sets several.
    const data = { max_response_length: 100 };
    const { rollout } = load({ data, rollout: { train: { max_tokens: 50 } } });
    expect([rollout.train.maxTokens, rollout.val.maxTokens]).toEqual([50, 100]);
  });
  it("lead to options that there are", () => {
    const known = new Set(configFields().map(({ key }) => key));
    for (const key of compatKeys) {
      if (!("to" in key)) continue;
      for (const target of [key.to].flat())
        expect(
          known.has(target) || target.startsWith("verl.config."),
          `${key.from}: ${target}`,
        ).toBe(true);
    }
  });
  it("are each there once", () => {
    const names = compatKeys.map(({ from }) => from);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe("rLLM's options for Fireworks", () => {
  const fireworks = {
    "rllm.backend": "fireworks",
    fireworks_base_url: "https://api.fireworks.ai",
    fuse_forward_backward_and_optim_step: false,
    model: {
      name: "accounts/fireworks/models/qwen3-4b-instruct-2507",
      tokenizer_model: "Qwen/Qwen3-4B-Instruct-2507",
      lora_rank: 32,
      train_unembed: false,
      train_attn: true,
      train_mlp: true,
    },
    training: {
      group_size: 8,
      learning_rate: 1e-5,
      lr_schedule: "constant",
      warmup_steps_ratio: 0,
      grad_clip_norm: 0,
      max_length: null,
      client_timeout: 1800,
      resume_from_fireworks_job_id: null,
      resume_from_dcp_checkpoint: null,
    },
    fireworks_config: {
      policy_trainer_shape_id: "accounts/fireworks/trainingShapes/qwen3-4b-minimum-lora",
      policy_trainer_replica_count: 2,
      rollout_deployment_replica_count: 4,
      reference_trainer_shape_id: "accounts/fireworks/trainingShapes/qwen3-4b-minimum-lora",
      reference_trainer_replica_count: 0,
    },
    concurrency: {
      mode: "adaptive",
      initial_window: null,
      min_window: 1,
      max_window: 256,
      prefill_queue_target: 0.5,
    },
    fireworks_infra: {
      common: {
        base_model: "m",
        lora_rank: 32,
        max_seq_len: null,
        step_max_retries: 2,
        weight_sync_timeout: 2400,
      },
      deployments: {
        rollout: { deployment_id: null, deployment_shape: null, sample_timeout: 600 },
      },
      trainers: {
        policy: {
          weight_sync_deployment: "rollout",
          job_id: null,
          custom_image_tag: null,
          region: "EU",
          timeout_s: 7200,
          extra_args: null,
          skip_validations: false,
        },
        reference: { job_id: null, replica_count: 0 },
      },
      recipe: { rft: { trainer: "policy", deployment: "rollout" } },
    },
  };

  it("are those of a dedicated trainer", () => {
    const { config } = loadConfig({ overrides: fireworks });
    expect(config.backend).toBe("fireworks");
    expect(config.rollout.n).toBe(8);
    expect(config.fireworks).toMatchObject({
      baseUrl: "https://api.fireworks.ai",
      tokenizer: "Qwen/Qwen3-4B-Instruct-2507",
      trainUnembed: false,
      contextLength: null,
      trainingShape: "accounts/fireworks/trainingShapes/qwen3-4b-minimum-lora",
      trainerReplicas: 2,
      deploymentReplicas: 4,
      maxConcurrentSamples: 256,
      timeoutS: 1800,
      weightSyncTimeoutS: 2400,
      readyTimeoutS: 7200,
      region: "EU",
    });
  });

  it.each([
    ["fireworks_config.reference_trainer_replica_count", 1],
    ["fireworks_infra.trainers.policy.job_id", "job-1"],
    ["fireworks_infra.deployments.rollout.deployment_id", "mine"],
    ["training.resume_from_fireworks_job_id", "job-1"],
  ])("are refused where they ask for what is not done: %s", (key, value) => {
    expect(() => loadConfig({ overrides: { ...fireworks, [key]: value } })).toThrow(
      `${key}=${JSON.stringify(value)} is not supported`,
    );
  });

  it("of the model keep their meaning on other backends", () => {
    expect(() => load({ "model.train_unembed": true })).toThrow("attention and MLP matrices");
    expect(() => load({ "model.tokenizer_model": "other" })).toThrow("brings its own tokenizer");
    const ours = load({ backend: "fireworks", "model.train_unembed": true });
    expect(ours.fireworks.trainUnembed).toBe(true);
  });
});
