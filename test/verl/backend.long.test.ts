/** The backend against the bridge: updates, versions, checkpoints, failures, its end. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { BridgeClient } from "../../src/backends/verl/bridge-client.ts";
import { startBridge } from "../../src/backends/verl/bridge-process.ts";
import type { VerlBackend, VerlBackendOptions } from "../../src/backends/verl/index.ts";
import {
  fakeBackend,
  fakeEngine,
  fakeEnv,
  fakeRun,
  hasPython,
  ppo,
  rowOf,
  runContext,
} from "./fake-bridge.ts";

const open: AsyncDisposable[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each[Symbol.asyncDispose]()));
});

async function started(options: Partial<VerlBackendOptions> = {}): Promise<VerlBackend> {
  const backend = fakeBackend(options);
  open.push(backend);
  await backend.start(runContext);
  return backend;
}

const newFolder = (): string => mkdtempSync(join(tmpdir(), "agent-trainer-verl-"));

const newline = 10;
const rows = [
  rowOf({ tokens: [newline, 97], logprobs: [-3.3], advantage: 1 }),
  rowOf({ tokens: [newline, 98], logprobs: [-3.3], advantage: -1 }),
  rowOf({ tokens: [newline, 99], logprobs: [-3.3], advantage: 0.5 }),
];

const logprobs = async (backend: VerlBackend): Promise<number[]> =>
  (await backend.forward(rows)).map((row) => row[1] as number);

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe.skipIf(!hasPython)("the verl backend", () => {
  it("says what its start is doing, and logs what the bridge writes into the run folder", async () => {
    const said: string[] = [];
    const backend = fakeBackend({
      engineOptions: { start_seconds: 3 },
      onProgress: (message) => said.push(message),
    });
    open.push(backend);
    const runDir = newFolder();
    await backend.start({ ...runContext, runDir });
    expect(said).toEqual(["Loading the toy policy."]);
    expect(readFileSync(join(runDir, "verl.log"), "utf8")).toContain("has 260 logits");
  });

  it("trains, and serves what it trained when it is told", async () => {
    const backend = await started();
    // 26 letters with logit 2 and 234 other ids with -2, before any step.
    const total = 26 * Math.exp(2) + 234 * Math.exp(-2);
    const first = 2 - Math.log(total);
    const before = await logprobs(backend);
    for (const value of before) expect(value).toBeCloseTo(first, 5);
    const metrics = await backend.updatePolicy(rows, ppo, fakeRun.optim);
    // The ratio is the same for all: minus the mean of ratio times advantage.
    const ratio = Math.exp(first - Math.fround(-3.3));
    expect(metrics["loss"]).toBeCloseTo((-ratio * 0.5) / 3, 5);
    // Three rows on two ranks.
    expect(metrics).toMatchObject({ tokens: 3, "ranks/rows": 2 });
    const [a, b] = (await logprobs(backend)) as [number, number];
    expect(a).toBeGreaterThan(before[0] as number);
    expect(b).toBeLessThan(before[1] as number);
    expect(await backend.publishWeights()).toBe(1);
    expect(await backend.publishWeights()).toBe(2);
  });

  it("gives back exactly what it saved, and counts steps from there", async () => {
    const folder = newFolder();
    const first = await started();
    await first.updatePolicy(rows, ppo, fakeRun.optim);
    await first.saveState(folder);
    const expected = await first.updatePolicy(rows, ppo, fakeRun.optim);
    const second = await started();
    await second.loadState(folder, 7);
    expect(await second.updatePolicy(rows, ppo, fakeRun.optim)).toEqual(expected);
    expect(await second.publishWeights()).toBe(8);
    expect(await logprobs(second)).toEqual(await logprobs(first));
  });

  it("refuses a folder that is not a checkpoint, and continues", async () => {
    const backend = await started();
    const before = await logprobs(backend);
    const folder = newFolder();
    await expect(backend.loadState(folder, 1)).rejects.toMatchObject({
      code: "CHECKPOINT_INVALID",
    });
    const state = { engine: fakeEngine, step: 3, world_size: 4 };
    writeFileSync(join(folder, "bridge.json"), JSON.stringify(state));
    await expect(backend.loadState(folder, 1)).rejects.toThrow(/saved by 4 processes/);
    expect(await logprobs(backend)).toEqual(before);
  });

  it("takes the distance to the reference and entropy into the loss, apart from weights", async () => {
    const backend = await started();
    await backend.updatePolicy(rows, ppo, fakeRun.optim);
    const [now, reference] = await Promise.all([
      backend.forward(rows),
      backend.forward(rows, "reference"),
    ]);
    const k3 = rows.map((_, i) => {
      const gap = (reference[i]?.[1] as number) - (now[i]?.[1] as number);
      return Math.exp(gap) - gap - 1;
    });
    const mean = k3.reduce((sum, value) => sum + value, 0) / rows.length;
    expect(mean).toBeGreaterThan(1e-3);
    const still = { ...fakeRun.optim, learningRate: 0 };
    const unweighted = rows.map((row) => ({ ...row, weights: Float32Array.of(0, 0) }));
    const loss = { ...ppo, kl: { coef: 0.5, estimator: "k3" }, entropyCoef: 0.25 } as const;
    const metrics = await backend.updatePolicy(unweighted, loss, still);
    expect(metrics["kl_reference"]).toBeCloseTo(mean, 6);
    const entropy = metrics["entropy"] as number;
    // At most that of a uniform distribution over 260 ids.
    expect(entropy).toBeGreaterThan(2);
    expect(entropy).toBeLessThan(Math.log(260));
    expect(metrics["loss"]).toBeCloseTo(0.5 * mean - 0.25 * entropy, 6);
  });

  it("trains each row at its temperature", async () => {
    const backend = await started();
    const temperatures = [0.5, 1, 1.3];
    const tempered = rows.map((row, i) => ({ ...row, temperature: temperatures[i]! }));
    const found = await backend.forward(tempered);
    for (const [i, T] of temperatures.entries()) {
      const total = 26 * Math.exp(2 / T) + 234 * Math.exp(-2 / T);
      expect(found[i]?.[1]).toBeCloseTo(2 / T - Math.log(total), 5);
    }
    const { loss } = await backend.updatePolicy(
      tempered,
      { ...ppo, name: "importance_sampling" },
      fakeRun.optim,
    );
    const expected = tempered.map(
      ({ samplingLogprobs, advantages }, i) =>
        -Math.exp(found[i]![1]! - samplingLogprobs[1]!) * advantages[1]!,
    );
    expect(loss).toBeCloseTo(expected.reduce((sum, value) => sum + value, 0) / 3, 5);
  });

  it("does not train twice when an answer is lost", async () => {
    const backend = await started();
    const real = globalThis.fetch;
    let lost = 0;
    globalThis.fetch = async (...given) => {
      const response = await real(...given);
      if ((given[0] as string).endsWith("/update") && lost++ === 0)
        throw new TypeError("socket closed");
      return response;
    };
    try {
      await backend.updatePolicy(rows, ppo, fakeRun.optim);
    } finally {
      globalThis.fetch = real;
    }
    expect(lost).toBe(2);
    const once = await started();
    await once.updatePolicy(rows, ppo, fakeRun.optim);
    expect(await logprobs(backend)).toEqual(await logprobs(once));
  });

  it("says what broke, and that it cannot go on", async () => {
    const backend = await started({ engineOptions: { fail_at_step: 1 } });
    await expect(backend.updatePolicy(rows, ppo, fakeRun.optim)).rejects.toMatchObject({
      code: "VERL_FAILED",
      reason: "engine",
      message: 'The bridge could not do "update": This step was told to fail.',
      fields: { traceback: expect.arrayContaining([expect.stringContaining("RuntimeError")]) },
    });
    await expect(backend.publishWeights()).rejects.toMatchObject({
      reason: "refused",
      message: expect.stringContaining("cannot go on"),
    });
  });

  it("refuses a row that cannot be trained on by its index, and an optimizer that changes", async () => {
    const backend = await started();
    const [row] = rows;
    const bad = { ...row!, advantages: Float32Array.of(0, Number.NaN) };
    await expect(backend.updatePolicy([row!, bad], ppo, fakeRun.optim)).rejects.toThrow(
      /Row 1 has a value in advantages/,
    );
    const optim = { ...fakeRun.optim, beta2: 0.5 };
    await expect(backend.updatePolicy(rows, ppo, optim)).rejects.toThrow(/beta2=0.95 and cannot/);
    // Neither counted as a step.
    await backend.updatePolicy(rows, ppo, { ...fakeRun.optim, learningRate: 0.01 });
  });

  it("ends the bridge with itself, in the middle of an update, too", async () => {
    const backend = await started({ engineOptions: { update_seconds: 1 }, graceMs: 200 });
    const pid = backend.pid as number;
    const update = backend.updatePolicy(rows, ppo, fakeRun.optim).catch((error: unknown) => error);
    await new Promise((done) => setTimeout(done, 100));
    expect(isAlive(pid)).toBe(true);
    await backend[Symbol.asyncDispose]();
    expect(isAlive(pid)).toBe(false);
    expect(await update).toMatchObject({ code: "VERL_FAILED", reason: "lost" });
  });

  it("attaches to a bridge that runs, and leaves it running", async () => {
    const bridge = await startBridge({
      ...{ python: "python3", env: fakeEnv, startMs: 10_000, graceMs: 1_000 },
      signal: runContext.signal,
    });
    open.push(bridge);
    const backend = await started({ attach: bridge.address });
    expect(backend.pid).toBeNull();
    await backend.updatePolicy(rows, ppo, fakeRun.optim);
    await backend[Symbol.asyncDispose]();
    expect(await new BridgeClient(bridge.address).get("/health")).toMatchObject({ step: 1 });
    const attach = { ...bridge.address, token: "not-the-token" };
    await expect(fakeBackend({ attach }).start(runContext)).rejects.toMatchObject({
      reason: "refused",
    });
  });

  it("goes on with a bridge that an earlier process started, from its checkpoint only", async () => {
    const bridge = await startBridge({
      ...{ python: "python3", env: fakeEnv, startMs: 10_000, graceMs: 1_000 },
      signal: runContext.signal,
    });
    open.push(bridge);
    const folder = newFolder();
    const first = await started({ attach: bridge.address });
    await first.updatePolicy(rows, ppo, fakeRun.optim);
    await first.publishWeights();
    await first.saveState(folder);
    const expected = await first.updatePolicy(rows, ppo, fakeRun.optim);
    await first.publishWeights();

    const second = await started({ attach: bridge.address });
    // Its weights are not those that a new run begins with.
    await expect(second.publishWeights()).rejects.toThrow(
      /Version 1 was asked for, but 2 is served/,
    );
    await second.loadState(folder, 1);
    expect(await second.updatePolicy(rows, ppo, fakeRun.optim)).toEqual(expected);
    expect(await second.publishWeights()).toBe(2);

    const other = fakeBackend({ attach: bridge.address });
    open.push(other);
    const name = newFolder();
    writeFileSync(join(name, "config.json"), "{}");
    const model = { name, lora: null };
    await expect(other.start({ ...runContext, model })).rejects.toThrow(
      /The bridge trains ".*shop-tiny"/,
    );
  });

  it("gives a start up when the run is interrupted", async () => {
    const stop = new AbortController();
    const backend = fakeBackend();
    open.push(backend);
    const starting = backend.start({ ...runContext, signal: stop.signal });
    stop.abort(new Error("interrupted"));
    await expect(starting).rejects.toThrow("interrupted");
    await backend[Symbol.asyncDispose]();
    expect(backend.pid).toBeNull();
  });

  it("names the Python that does not start", async () => {
    await expect(fakeBackend({ python: "no-such-python" }).start(runContext)).rejects.toMatchObject(
      {
        code: "VERL_FAILED",
        reason: "start",
        message: expect.stringContaining("no-such-python"),
      },
    );
  });

  it("says which package is missing", async () => {
    const backend = fakeBackend({ env: {} });
    open.push(backend);
    const context = { ...runContext, model: { name: "models/shop-tiny", lora: null } };
    await expect(backend.start(context)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(/^verl (?:is not installed|\S+ is installed, but)/),
    });
  });
});
