/** GAE through the bridge: values, updates, checkpoints, and a run that learns and continues exactly. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { startBridge } from "../../src/backends/verl/bridge-process.ts";
import { verlOverrides } from "../../src/backends/verl/shared-keys.ts";
import { loadConfig } from "../../src/config/load.ts";
import { verlOptionsOf } from "../../src/launch/verl-options.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import { coinAgent, coinTasks, readLines, withoutClock } from "../trainer/coin-run.ts";
import {
  fakeBackend,
  fakeEnv,
  fakeRun,
  hasPython,
  modelFolder,
  ppo,
  rowOf,
  runContext,
} from "./fake-bridge.ts";

const open: AsyncDisposable[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each[Symbol.asyncDispose]()));
});
const newFolder = (): string => mkdtempSync(join(tmpdir(), "agent-trainer-verl-critic-"));
const run = { ...fakeRun, critic: true };

function backendOf(options: Parameters<typeof fakeBackend>[0] = {}) {
  const backend = fakeBackend({ run, ...options });
  open.push(backend);
  return backend;
}

const critic = { learningRate: 0.5, clip: null, epochs: 1, isWarmup: false };
const loss = { ...ppo, critic };
const newline = 10;
const rows = [97, 98].map((token, r) => ({
  ...rowOf({ tokens: [newline, token], logprobs: [-3.3], advantage: 1 - r }),
  // The third is of a role with an estimator of its own.
  ...(r === 0 ? { values: Float32Array.of(0, 0), returns: Float32Array.of(0, 1) } : {}),
}));
const valueOf = async (backend: ReturnType<typeof backendOf>): Promise<number> =>
  (await backend.values(rows))[0]![1]!;

describe.skipIf(!hasPython)("a critic through the bridge", () => {
  it("learns returns, alone in its warm-up, and is a part of checkpoints", async () => {
    const first = backendOf();
    await first.start(runContext);
    expect(await valueOf(first)).toBe(0);
    const logprobs = await first.forward(rows);
    const warm = await first.updatePolicy(
      rows,
      { ...ppo, critic: { ...critic, isWarmup: true } },
      fakeRun.optim,
    );
    // One of two tokens teaches it, so the mean of the batch is that one's.
    expect(warm).toEqual({ tokens: 2, value_loss: 0.5, value_grad_norm: 1 });
    expect(await first.forward(rows)).toEqual(logprobs);
    expect(await valueOf(first)).toBe(0.5);
    const folder = newFolder();
    await first.saveState(folder);
    const both = await first.updatePolicy(rows, loss, fakeRun.optim);
    expect(both).toMatchObject({ value_loss: 0.125, loss: expect.any(Number) });
    const second = backendOf();
    await second.start(runContext);
    await second.loadState(folder, 1);
    expect(await valueOf(second)).toBe(0.5);
    expect(await second.updatePolicy(rows, loss, fakeRun.optim)).toEqual(both);
    expect(await valueOf(second)).toBe(await valueOf(first));
  });

  it("is not asked of a bridge that was started without one", async () => {
    const bridge = await startBridge({
      ...{ python: "python3", env: fakeEnv, startMs: 10_000, graceMs: 1_000 },
      signal: runContext.signal,
    });
    open.push(bridge);
    const attach = bridge.address;
    await fakeBackend({ attach }).start(runContext);
    await expect(fakeBackend({ attach, run }).start(runContext)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: "The bridge was started without a critic, which algorithm.estimator=gae needs.",
    });
  });

  const trainer = (outputDir: string, more: Parameters<typeof backendOf>[0] = {}): AgentTrainer =>
    new AgentTrainer({
      backend: backendOf({ run: { ...run, groupSize: 1, batchSize: 32 }, ...more }),
      resume: "auto",
      agentFlow: coinAgent,
      evaluator: (_, { output }) =>
        Math.max(0, "abcdefghijklmnopqrstuvwxyz".indexOf(String(output)) / 25),
      trainDataset: coinTasks,
      config: {
        "model.name": modelFolder,
        "algorithm.estimator.type": "gae",
        "algorithm.estimator.critic_warmup": 1,
        "algorithm.estimator.value_learning_rate": 0.5,
        "algorithm.estimator.value_epochs": 2,
        "data.train_batch_size": 32,
        "rollout.n": 1,
        "rollout.train.max_tokens": 1,
        "training.learning_rate": fakeRun.optim.learningRate,
        "training.max_grad_norm": fakeRun.optim.maxGradNorm,
        "trainer.total_batches": 12,
        "trainer.save_freq": 4,
        "trainer.output_dir": outputDir,
        "trainer.experiment_name": "letters",
        "workflow.retry_limit": 0,
      },
    });

  it("trains without groups, and a resumed run has the same numbers", async () => {
    const [whole, parts] = [newFolder(), newFolder()];
    await trainer(whole).train();
    const broken = trainer(parts, { engineOptions: { fail_at_step: 7 } });
    await expect(broken.train()).rejects.toMatchObject({ code: "VERL_FAILED" });
    await trainer(parts).train();
    const linesOf = (folder: string) =>
      readLines(folder, "letters", "metrics.jsonl").map(withoutClock);
    const lines = linesOf(whole);
    expect(linesOf(parts)).toEqual(lines);
    expect(lines[0]).toMatchObject({ "train/critic_warmup": 1, "critic/values/mean": 0 });
    expect(lines[0]).not.toHaveProperty("train/loss");
    const rewards = lines.map((line) => line["reward/mean"] as number);
    const mean = (part: readonly number[]) => part.reduce((a, b) => a + b, 0) / part.length;
    expect(mean(rewards.slice(-3))).toBeGreaterThan(mean(rewards.slice(0, 3)) + 0.2);
    expect(lines.at(-1)!["critic/values/mean"]).toBeGreaterThan(0.3);
  });
});

describe("options of a critic that verl has, too", () => {
  const given = (...overrides: string[]): string[] => verlOverrides({ run, overrides });

  it("come to verl as ours, and a critic's own model is verl's to say", () => {
    const overrides = given("critic.model.path=/models/scorer", "critic.fsdp.param_offload=true");
    expect(overrides).toEqual(
      expect.arrayContaining([
        "critic.optim.betas=[0.9,0.95]",
        "critic.optim.weight_decay=0",
        `critic.optim.clip_grad=${fakeRun.optim.maxGradNorm}`,
        "critic.model.path=/models/scorer",
      ]),
    );
  });

  it.each([
    ["critic.optim.lr=1e-4", "Use algorithm.estimator.value_learning_rate."],
    ["critic.cliprange_value=0.2", "Use algorithm.estimator.value_clip."],
    ["critic.ppo_epochs=2", "Use algorithm.estimator.value_epochs."],
    ["critic.grad_clip=7", "Set training.max_grad_norm, and leave verl's key out."],
  ])("%s is refused", (override, hint) => {
    expect(() => given(override)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", hint }),
    );
  });

  it("do nothing without gae, which starts a critic", () => {
    expect(() => verlOverrides({ run: fakeRun, overrides: ["critic.strategy=fsdp2"] })).toThrow(
      /critic\.strategy does nothing here/u,
    );
    const { config } = loadConfig({
      overrides: ["model.name=m", "backend=verl", "algorithm.estimator=gae"],
    });
    expect(verlOptionsOf(config, {}).run).toMatchObject({ critic: true });
  });
});
