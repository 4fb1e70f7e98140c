/** Command lines of rLLM's cookbooks (a part of them): each starts, or is refused for what would change the run. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { verlOverrides } from "../../src/backends/verl/shared-keys.ts";
import { loadConfig, type LoadedConfig } from "../../src/config/load.ts";
import { capabilityMatrix, type BackendName } from "../../src/core/capabilities.ts";
import { verlOptionsOf } from "../../src/launch/verl-options.ts";
import { checkCapabilities } from "../../src/trainer/check-capabilities.ts";

interface Line {
  readonly file: string;
  readonly backend: string;
  readonly pairs: readonly string[];
}

const lines = JSON.parse(
  readFileSync(new URL("rllm-launch-lines.json", import.meta.url), "utf8"),
) as readonly Line[];

/** Everything that is checked before a backend starts. */
function start(overrides: readonly string[]): LoadedConfig {
  const loaded = loadConfig({ overrides });
  const name = loaded.config.backend as BackendName;
  checkCapabilities(loaded.config, { name, capabilities: capabilityMatrix[name] });
  if (name === "verl") verlOverrides(verlOptionsOf(loaded.config, {}));
  return loaded;
}

/** Scripts for verl take the model from a variable of the shell. */
const named = ({ pairs }: Line): readonly string[] =>
  pairs.some((pair) => /^(?:model\.name|actor_rollout_ref\.model\.path)=/u.test(pair))
    ? pairs
    : [...pairs, "actor_rollout_ref.model.path=Qwen/Qwen3-4B-Instruct-2507"];

const viewer = "in trainer.logger has no effect";

/** What a line sets here. */
interface Started {
  readonly n: number;
  readonly batch: number;
  readonly tokens: number;
  readonly test: number;
  readonly epochs?: number;
  readonly rank?: number;
  readonly temperature?: readonly [train: number, val: number];
  /** Learning rate, clip range. */
  readonly verl?: readonly [rate: number, low: number | null, high: number | null];
  readonly shape?: string;
}
type Verdict = Started | RegExp;

const tiny = "accounts/fireworks/trainingShapes/qwen3-4b-minimum-lora";
const started = (n: number, batch: number, tokens: number, test: number): Started => ({
  n,
  batch,
  tokens,
  test,
});

const verdicts: Readonly<Record<string, Verdict>> = {
  "agent_frameworks/train_tinker.sh": started(8, 32, 2048, 10),
  "deepcoder/train_fireworks.sh": { ...started(4, 16, 16384, 20), shape: tiny },
  "deepcoder/train_verl.sh": {
    ...started(4, 16, 16384, 20),
    temperature: [0.6, 0.6],
    verl: [1e-6, 0.2, 0.28],
  },
  "finqa/train_tinker.sh": { ...started(8, 16, 4096, 20), temperature: [0.6, 0.6] },
  "frozenlake/train_fireworks.sh": { ...started(8, 32, 2048, 10), shape: tiny },
  "frozenlake/train_verl.sh": {
    ...started(4, 32, 2048, 10),
    temperature: [1, 0.6],
    verl: [1e-6, 0.2, 0.28],
  },
  // What a line leaves out has the defaults of this package.
  "geo3k/train_tinker.sh": { ...started(8, 16, 512, 10), temperature: [0.6, 0.6], epochs: 3 },
  "math/train_fireworks.sh": { ...started(8, 32, 4096, 10), shape: tiny },
  "math/train_verl.sh": {
    ...started(8, 32, 4096, 10),
    temperature: [0.6, 0.6],
    verl: [1e-6, 0.2, 0.28],
  },
  "math_tool_agent/train_tinker.sh": started(8, 32, 2048, 10),
  // Its agent runs in a cloud's containers, which this program does not start.
  "migrationbench/train_agentcore_migrationbench_verl.sh":
    /^rllm\.remote_runtime\.enabled=true is not supported: .* httpAgent of agent-trainer/u,
  "solver_judge_flow/train_tinker.sh": started(4, 32, 1024, 10),
  "workflow/geo3k/train_fireworks.sh": {
    ...started(8, 16, 512, 10),
    epochs: 3,
    shape: "accounts/fireworks/trainingShapes/qwen3-vl-8b-256k-h200-lora",
  },
  "workflow/geo3k/train_verl.sh": {
    ...started(4, 32, 2048, 10),
    epochs: 3,
    temperature: [1, 0.6],
    verl: [2e-5, null, null],
  },
  "workflow/solver_judge/train_tinker.sh": started(4, 32, 1024, 10),
};

describe("a command line of rLLM", () => {
  it("has a verdict for each", () => {
    expect(lines.map(({ file }) => file)).toEqual(Object.keys(verdicts));
  });

  it.each(lines)("$file", (line) => {
    const verdict = verdicts[line.file] as Verdict;
    if (verdict instanceof RegExp) {
      expect(() => start(named(line))).toThrow(
        expect.objectContaining({
          code: "CONFIG_INVALID",
          message: expect.stringMatching(verdict),
        }),
      );
      return;
    }
    const { config, warnings } = start(named(line));
    const { n, batch, tokens, test, epochs = 1, rank = 32, temperature, verl, shape } = verdict;
    expect(config).toMatchObject({
      backend: line.backend,
      model: { loraRank: rank },
      rollout: { n, train: { maxTokens: tokens }, val: { maxTokens: tokens } },
      data: { trainBatchSize: batch },
      trainer: { testFreq: test, totalEpochs: epochs },
      training: { numMinibatches: 1 },
      algorithm: { klBeta: 0 },
      tracking: { trackers: [] },
    });
    if (temperature !== undefined) {
      const { train, val } = config.rollout;
      expect([train.temperature, val.temperature]).toEqual(temperature);
    }
    if (verl !== undefined) {
      const [learningRate, epsClip, epsClipHigh] = verl;
      expect(config.training.learningRate).toBe(learningRate);
      expect(config.algorithm.loss).toMatchObject({ type: "ppo", epsClip, epsClipHigh });
    }
    expect(config.fireworks.trainingShape).toBe(shape ?? null);
    // One notice: its web page of runs.
    expect(warnings.map((text) => text.replace("rllm.", ""))).toEqual([
      expect.stringMatching(`^ui ${viewer}`),
    ]);
  });

  it("is refused alone for the agent that runs elsewhere", () => {
    const line = lines.find(({ file }) => file.startsWith("migrationbench")) as Line;
    const here = named(line).filter((pair) => !pair.startsWith("rllm.remote_runtime."));
    const { config } = start(here);
    // KL is on, with verl's own name of its estimator.
    expect(config.algorithm).toMatchObject({
      klBeta: 0.001,
      klEstimator: "k3",
      aggregation: { type: "seq-mean-token-sum" },
      rolloutCorrection: { type: "token", cap: 2 },
    });
    expect(config.rollout.val).toMatchObject({ temperature: 0.7, topP: 0.8, topK: 20 });
    expect(config.tracking.trackers).toEqual(["wandb"]);
    expect(config.verl.tensorParallel).toBe(4);
    expect(config.verl.config).toContain(
      "++actor_rollout_ref.rollout.engine_kwargs.vllm.tool_call_parser=qwen3_coder",
    );
  });
});

const of = (backend: string, ...pairs: readonly string[]): readonly string[] => [
  `rllm/backend=${backend}`,
  "model.name=m",
  ...pairs,
];
const actor = "actor_rollout_ref.actor";
const rollout = "actor_rollout_ref.rollout";

describe("values that change nothing", () => {
  it.each([
    ["verl", `${actor}.use_kl_loss=False`],
    ["verl", "trainer.default_hdfs_dir=null"],
    ["verl", "trainer.critic_warmup=0"],
    ["verl", "trainer.resume_mode=disable"],
    ["verl", "data.train_files=null"],
    ["verl", "data.truncation=error"],
    ["verl", "algorithm.lam=1.0"],
    ["verl", `${rollout}.mode=async`],
    ["tinker", "model.train_unembed=true"],
    ["tinker", "model.train_attn=true"],
    ["fireworks", "data.val_files=null"],
    ["tinker", "rllm.gateway.port=null"],
    ["tinker", "rllm.remote_runtime.enabled=false"],
    ["tinker", "rllm.trainer.logger=[console]"],
    ["tinker", "rllm.algorithm.router_replay=disabled"],
    ["tinker", "rllm.stepwise_advantage.enable=true"],
    ["tinker", "rllm.rollout.train.presence_penalty=0"],
    ["tinker", "validation.group_size=???"],
    ["tinker", "hydra.run.dir=outputs/${now:%Y-%m-%d}/${now:%H-%M-%S}"],
  ])("on %s, %s is accepted silently", (backend, pair) => {
    const { config, warnings } = start(of(backend, pair));
    expect(warnings).toEqual([]);
    expect({ ...config }).toEqual({ ...start(of(backend)).config });
  });
});

describe("infrastructure of the other trainer", () => {
  it("is named in one notice, with reasons, and changes nothing", () => {
    const pairs = [
      "trainer.default_hdfs_dir=hdfs://cluster/runs",
      "data.train_files=/mnt/data/train.parquet",
      "ray_kwargs.ray_init.num_cpus=64",
      "trainer.rollout_data_dir=/mnt/rollouts",
      "data.filter_overlong_prompts=True",
      "critic.optim.lr=1e-5",
      "rllm.gateway.num_workers=4",
      "training.resume_mode=auto",
    ];
    const { config, warnings } = start(of("verl", ...pairs));
    expect(warnings).toHaveLength(1);
    for (const pair of pairs) expect(warnings[0]).toContain(pair.split("=")[0]);
    expect(warnings[0]).toContain("data.train_files (tasks are what code passes");
    expect({ ...config }).toEqual({ ...start(of("verl")).config });
  });
});

describe("values that would change the run", () => {
  it.each([
    ["verl", "trainer.critic_warmup=10", "there is no critic to warm up"],
    ["verl", "algorithm.gamma=0.9", "use stepwise_advantage.gamma"],
    ["tinker", "algorithm.adv_estimator=gae", 'does not support algorithm.estimator.type="gae"'],
    ["verl", `${actor}.policy_loss.loss_mode=kl_cov`, "given as actor_rollout_ref.actor.policy"],
    ["verl", `${rollout}.mode=sync`, "servers answer any number of agents"],
    ["verl", "reward_model.enable=True", "call a reward model from an evaluator"],
    ["verl", "custom_reward_function.path=reward.py", "use an evaluator"],
    ["verl", "data.shuffle=False", "data.curriculum"],
    ["verl", "data.apply_chat_template_kwargs.enable_thinking=False", "chat_template_kwargs"],
    ["tinker", "model.train_unembed=false", "attention and MLP"],
    ["tinker", "training.resume_mode=resume_path", "--resume"],
    ["tinker", "rllm.algorithm.router_replay=R3", "expert routing"],
    ["tinker", "rllm.trainer.logger=[console,swanlab]", "given as rllm.trainer.logger"],
    ["tinker", "rllm.gateway.tunnel=cloudflared", "set gateway.public_url"],
    ["tinker", "rllm.rollout.train.presence_penalty=0.5", "the agent sets it in its calls"],
    ["tinker", "rllm.trainer.totl_epochs=1", "Did you mean trainer.total_epochs?"],
  ])("on %s, %s is refused: %s", (backend, pair, reason) => {
    expect(() => start(of(backend, pair))).toThrow(reason);
  });
});

describe("values whose meaning depends on others", () => {
  const options = (...pairs: readonly string[]) => start(of("verl", ...pairs)).config;

  it("adv_estimator=gae has a critic, which warms up", () => {
    const keys = ["algorithm.lam=0.9", "algorithm.gamma=0.99", "trainer.critic_warmup=10"];
    expect(options("algorithm.adv_estimator=gae", ...keys).algorithm.estimator).toMatchObject({
      type: "gae",
      lambda: 0.9,
      gamma: 0.99,
      criticWarmup: 10,
    });
  });

  it("use_kl_loss=True alone is the penalty with verl's coefficient, and no other where one is given", () => {
    const on = `${actor}.use_kl_loss=True`;
    expect(options(on).algorithm.klBeta).toBe(0.001);
    expect(options(on, `${actor}.kl_loss_coef=0`).algorithm.klBeta).toBe(0);
    expect(options(`${actor}.kl_loss_coef=0.02`, on).algorithm.klBeta).toBe(0.02);
    expect(options(on, "rllm.algorithm.kl_beta=0.3").algorithm.klBeta).toBe(0.3);
  });

  it("env_loss_coef is ECHO, of what tools and users answer", () => {
    const coef = (value: string): string => `rllm.algorithm.env_loss_coef=${value}`;
    const { observationLoss } = start(of("local", coef("0.05"))).config.algorithm;
    expect(observationLoss).toEqual(["tool=0.05", "user=0.05"]);
    for (const off of ["0", "null"])
      expect(start(of("local", coef(off))).config.algorithm.observationLoss).toEqual([]);
    expect(() => start(of("local", coef("-1")))).toThrow("from 0 on");
  });

  it("use_kl_loss=False turns off the penalty that kl_loss_coef sets, in either order", () => {
    const [off, coef] = [`${actor}.use_kl_loss=False`, `${actor}.kl_loss_coef=0.001`];
    expect(options(off, coef).algorithm.klBeta).toBe(0);
    expect(options(coef, off).algorithm.klBeta).toBe(0);
    expect(options(coef).algorithm.klBeta).toBe(0.001);
    expect(options(coef, `${actor}.use_kl_loss=True`).algorithm.klBeta).toBe(0.001);
    expect(() => options(off, "rllm.algorithm.kl_beta=0.01")).toThrow("to different values");
  });

  it("do_sample=False is greedy, whatever the temperature", () => {
    const val = `${rollout}.val_kwargs`;
    const { rollout: greedy } = options(`${val}.do_sample=False`, `${val}.temperature=0.6`);
    expect([greedy.val.temperature, greedy.train.temperature]).toEqual([0, 1]);
    const sampled = options(`${val}.do_sample=True`, `${val}.temperature=0.6`).rollout;
    expect(sampled.val.temperature).toBe(0.6);
  });

  // r = max(1, train_batch_size // ppo_mini_batch_size) optimizer steps.
  it.each([
    [64, 16, 4],
    [16, 64, 1],
    [100, 32, 3],
  ])("%i tasks in mini-batches of %i are %i mini-batches", (tasks, size, expected) => {
    const pairs = [`${actor}.ppo_mini_batch_size=${size}`, `data.train_batch_size=${tasks}`];
    expect(options(...pairs).training.numMinibatches).toBe(expected);
  });

  it("clip_ratio_low wins over clip_ratio, and an option's own name over one that sets several", () => {
    const clip = options(`${actor}.clip_ratio_low=0.1`, `${actor}.clip_ratio=0.3`);
    expect(clip.algorithm.loss).toMatchObject({ epsClip: 0.1 });
    const tokens = options("rllm.rollout.train.max_tokens=64", "data.max_response_length=128");
    expect([tokens.rollout.train.maxTokens, tokens.rollout.val.maxTokens]).toEqual([64, 128]);
  });

  it("betas and adapters are the options that they are", () => {
    const { training, model } = options(
      `${actor}.optim.betas=[0.8,0.98]`,
      "actor_rollout_ref.model.lora.rank=16",
      "actor_rollout_ref.model.lora.alpha=8",
      "actor_rollout_ref.model.target_modules=all-linear",
    );
    expect([training.beta1, training.beta2]).toEqual([0.8, 0.98]);
    expect(model).toMatchObject({ loraRank: 16, loraAlpha: 8, loraTargets: "all" });
    const attention = start(of("tinker", "model.train_mlp=false")).config;
    expect(attention.model.loraTargets).toBe("attention");
  });

  it("sizes of rejection sampling have no effect, and what happens is said", () => {
    const on = ["rllm.rejection_sample.enable=true", "rejection_sample.max_batches=4"];
    const sizes = [
      "rllm.rejection_sample.multiplier=3",
      "rllm.rejection_sample.min_partial_solve_tasks=8",
      "rllm.rejection_sample.min_trajs_per_group=4",
    ];
    const { config, warnings } = start(of("tinker", ...on, ...sizes));
    expect(config.rejectionSample).toEqual({ enable: true, maxBatches: 4 });
    expect(warnings).toHaveLength(1);
    for (const pair of sizes) expect(warnings[0]).toContain(pair.split("=")[0]);
    expect(warnings[0]).toContain("data.train_batch_size tasks at a time");
    const usual = ["multiplier=1", "min_partial_solve_tasks=1", "min_trajs_per_group=2"];
    const silent = usual.map((pair) => `rllm.rejection_sample.${pair}`);
    expect(start(of("tinker", ...on, ...silent)).warnings).toEqual([]);
  });

  it("refilling dropped groups is rejection sampling, where training is asynchronous", () => {
    const pairs = [
      "rllm.rejection_sample.filter_uniform_groups=true",
      "rllm.rejection_sample.refill_filtered_uniform_groups=true",
    ];
    const on = [...pairs, "rllm.async_training.enable=true"];
    expect(start(of("tinker", ...on)).config.rejectionSample.enable).toBe(true);
    expect(start(of("tinker", ...pairs)).config.rejectionSample.enable).toBe(false);
  });
});
