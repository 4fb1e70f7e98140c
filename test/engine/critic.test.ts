/** A critic against torch (`scripts/fixtures/make_critic.py`), what it leaves alone, and its checkpoints. */
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { messageOfRows, rowsOfMessage } from "../../src/backends/local/row-message.ts";
import { defaultOptim, type LossSpec } from "../../src/core/loss/loss.ts";
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import type { CriticSpec } from "../../src/core/loss/value-loss.ts";
import { loadPolicy } from "../../src/engine/decoder/policy.ts";
import { PolicyEngine } from "../../src/engine/policy-engine.ts";
import { Device } from "../../src/engine/tensor/device.ts";
import { PolicyTrainer } from "../../src/engine/training/trainer.ts";
import {
  type ExpectedGradient,
  familyFixture,
  gradientDistance,
} from "./families/family-fixtures.ts";
import { adaptedPolicy, rowOf, smallPolicy } from "./small-model.ts";

interface Golden {
  readonly clip: number;
  readonly valueClip: number;
  readonly coef: number;
  readonly head: Readonly<Record<"value.weight" | "value.bias", readonly number[]>>;
  readonly rows: readonly {
    readonly tokens: readonly number[];
    readonly sampled: readonly number[];
    readonly sampling: readonly number[];
    readonly advantages: readonly number[];
    readonly critic: Readonly<Record<"now" | "values" | "returns", readonly number[]>> | null;
  }[];
  readonly loss: number;
  readonly valueLoss: number;
  readonly clipFraction: number;
  readonly gradients: Readonly<Record<string, ExpectedGradient>>;
  readonly headGradients: Readonly<Record<string, ExpectedGradient>>;
}
const golden = JSON.parse(
  readFileSync(new URL("critic-golden.json", import.meta.url), "utf8"),
) as Golden;

const critic: CriticSpec = {
  learningRate: 0.01,
  clip: golden.valueClip,
  sharedCoef: golden.coef,
  isWarmup: false,
};
const spec: LossSpec = {
  name: "ppo",
  epsClip: golden.clip,
  epsClipHigh: golden.clip,
  aggregation: "token-mean",
};
const rows = golden.rows.map((given): TrainingRow => ({
  ...rowOf(Int32Array.from(given.tokens), given.tokens.length),
  targetMask: Uint8Array.from(given.sampled),
  samplingLogprobs: Float32Array.from(given.sampling),
  advantages: Float32Array.from(given.advantages),
  ...(given.critic && {
    values: Float32Array.from(given.critic.values),
    returns: Float32Array.from(given.critic.returns),
  }),
}));

async function trainerOf(memoryMiB = 100): Promise<PolicyTrainer> {
  const policy = await loadPolicy(familyFixture("qwen2").folder, {
    device: new Device({ threads: 1 }),
    lora: null,
    seed: 1,
    precision: "f32",
  });
  const trainer = new PolicyTrainer(policy, { memoryMiB });
  for (const [name, data] of Object.entries(golden.head)) trainer.critic.data.get(name)!.set(data);
  return trainer;
}

const copied = (map: ReadonlyMap<string, Float32Array>): Map<string, Float32Array> =>
  new Map(Array.from(map, ([name, data]) => [name, data.slice()]));

async function learn(given: readonly TrainingRow[], loss: LossSpec, memoryMiB?: number) {
  const trainer = await trainerOf(memoryMiB);
  const metrics = await trainer.forwardBackward(given, loss);
  return {
    metrics,
    gradients: copied(trainer.accumulatedGradients),
    ofHead: copied(trainer.critic.gradients),
  };
}

describe("a critic", () => {
  it("has torch's values", async () => {
    const valued = rows.filter(({ returns }) => returns !== undefined);
    const values = await (await trainerOf()).values(valued);
    const expected = golden.rows.flatMap((row) => (row.critic === null ? [] : [row.critic.now]));
    for (const [r, list] of expected.entries())
      for (const [i, value] of list.entries()) expect(values[r]![i]).toBeCloseTo(value, 5);
  });

  it("has torch's loss and gradients, in the head and in what it shares with the policy", async () => {
    const { metrics, gradients, ofHead } = await learn(rows, { ...spec, critic });
    expect(metrics["loss"]).toBeCloseTo(golden.loss, 5);
    expect(metrics["value_loss"]).toBeCloseTo(golden.valueLoss, 5);
    expect(metrics["value_clip_fraction"]).toBeCloseTo(golden.clipFraction, 12);
    for (const [name, theirs] of Object.entries(golden.gradients))
      expect(gradientDistance(gradients.get(name)!, theirs), name).toBeLessThan(1e-5);
    for (const [name, theirs] of Object.entries(golden.headGradients))
      expect(gradientDistance(ofHead.get(name)!, theirs), name).toBeLessThan(1e-5);
  });

  it("is the same where layers are recomputed, and after rows went to another thread", async () => {
    const plain = await learn(rows, { ...spec, critic });
    const sent = await learn(rowsOfMessage(messageOfRows(rows)), { ...spec, critic });
    expect(sent).toEqual(plain);
    const { ofHead } = await learn(rows, { ...spec, critic }, 0);
    for (const [name, theirs] of Object.entries(golden.headGradients))
      expect(gradientDistance(ofHead.get(name)!, theirs), name).toBeLessThan(1e-5);
  });

  it("leaves the policy's gradient as it is with the coefficient 0, to the bit", async () => {
    const without = await learn(rows, spec);
    const apart = await learn(rows, { ...spec, critic: { ...critic, sharedCoef: 0 } });
    expect(apart.gradients).toEqual(without.gradients);
    for (const [name, theirs] of Object.entries(golden.headGradients))
      expect(gradientDistance(apart.ofHead.get(name)!, theirs), name).toBeLessThan(1e-5);
  });

  it("learns alone while it warms up, what it learns otherwise", async () => {
    const trainer = await trainerOf();
    const warmup = { ...spec, critic: { ...critic, isWarmup: true } };
    const metrics = await trainer.forwardBackward(rows, warmup);
    expect(metrics).toEqual({
      tokens: 22,
      value_loss: expect.closeTo(golden.valueLoss, 5),
      value_clip_fraction: expect.closeTo(golden.clipFraction, 12),
    });
    expect(trainer.accumulatedGradients.size).toBe(0);
    const before = copied(trainer.critic.data);
    const [policyBefore] = await trainer.forward(rows.slice(0, 1));
    expect(await trainer.optimStep(defaultOptim)).toEqual({ value_grad_norm: expect.any(Number) });
    expect(trainer.critic.data).not.toEqual(before);
    expect(trainer.adam.step).toBe(0);
    const [policyAfter] = await trainer.forward(rows.slice(0, 1));
    expect(policyAfter).toEqual(policyBefore);
  });

  it("keeps both as they are where an update is refused", async () => {
    const trainer = await trainerOf();
    await trainer.forwardBackward(rows, { ...spec, critic });
    const before = copied(trainer.critic.data);
    const refuse = (): never => {
      throw new Error("refused");
    };
    await expect(trainer.optimStep(defaultOptim, refuse)).rejects.toThrow("refused");
    expect(trainer.critic.data).toEqual(before);
    expect(trainer.critic.hasGradients).toBe(false);
    const broken = rows.map((row) => ({
      ...row,
      ...(row.returns && { returns: row.returns.map(() => NaN) }),
    }));
    await expect(trainer.forwardBackward(broken, { ...spec, critic })).rejects.toThrow(
      "value loss",
    );
    expect(trainer.critic.hasGradients).toBe(false);
  });

  it("learns what is easy to see: a value of each token", async () => {
    const policy = await smallPolicy({ rank: 2, alpha: 4 });
    const trainer = new PolicyTrainer(policy, { memoryMiB: 100 });
    const row = rowOf(
      Int32Array.from({ length: 24 }, (_, i) => (7 * i) % 40),
      4,
    );
    const returns = Float32Array.from(row.targetMask, (mask, i) => mask * Math.cos(i));
    const update = {
      ...spec,
      critic: { ...critic, clip: null, learningRate: 0.05, isWarmup: true },
    };
    let found: Record<string, number> = {};
    for (let step = 0; step < 200; step++) {
      const [values] = await trainer.values([row]);
      found = await trainer.forwardBackward([{ ...row, values: values!, returns }], update);
      await trainer.optimStep(defaultOptim);
    }
    expect(found["value_loss"]).toBeLessThan(0.01);
  });
});

describe("checkpoints of a critic", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "critic-"));
    await mkdir(join(folder, "saved"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const update = { ...spec, critic: { ...critic, learningRate: 0.02 } };
  const row = rowOf(
    Int32Array.from({ length: 16 }, (_, i) => (5 * i) % 40),
    4,
  );
  const learnOnce = async (engine: PolicyEngine) => {
    const [values] = await engine.values([row]);
    const returns = row.advantages;
    await engine.forwardBackward([{ ...row, values: values!, returns }], update);
    await engine.optimStep(defaultOptim);
  };

  it("go on to the bit", async () => {
    await using one = await PolicyEngine.create(await adaptedPolicy());
    await learnOnce(one);
    await learnOnce(one);
    await one.save(join(folder, "saved"));
    await learnOnce(one);
    const expected = await one.values([row]);
    await using other = await PolicyEngine.create(await adaptedPolicy());
    await other.load(join(folder, "saved"), 1);
    await learnOnce(other);
    expect(await other.values([row])).toEqual(expected);
    await other.load(join(folder, "saved"), 2);
    await learnOnce(other);
    expect(await other.values([row])).toEqual(expected);
  });

  it("without one begin a new one; a damaged one is refused", async () => {
    await using engine = await PolicyEngine.create(await adaptedPolicy());
    await learnOnce(engine);
    const without = join(folder, "without");
    await cp(join(folder, "saved"), without, { recursive: true });
    await rm(join(without, "critic.state"));
    await engine.load(without, 1);
    expect(await engine.values([row])).toEqual([new Float32Array(row.tokens.length)]);
    await cp(join(without, "optimizer.state"), join(without, "critic.state"));
    await expect(engine.load(without, 2)).rejects.toThrow(
      /does not fit this model: "value\.weight"/u,
    );
  });
});
