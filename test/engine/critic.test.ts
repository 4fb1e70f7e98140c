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
import { newTensor, type Tensor } from "../../src/engine/tensor/tensor.ts";
import { PolicyTrainer } from "../../src/engine/training/trainer.ts";
import type { ValueBatch } from "../../src/engine/training/value-head.ts";
import {
  type ExpectedGradient,
  familyFixture,
  gradientDistance,
} from "./families/family-fixtures.ts";
import { adaptedPolicy, rowOf, smallPolicy } from "./small-model.ts";

interface Golden {
  readonly clip: number;
  readonly valueClip: number;
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
  learningRate: 0.001,
  clip: golden.valueClip,
  epochs: 4,
  isWarmup: false,
};
const spec: LossSpec = {
  name: "ppo",
  epsClip: golden.clip,
  epsClipHigh: golden.clip,
  aggregation: "token-mean",
};
const warmup = { ...spec, critic: { ...critic, isWarmup: true } };
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
  // As in the script.
  for (const data of trainer.critic.data.values())
    data.set(data.map((_, i) => 0.2 * Math.cos(1.7 * i)));
  return trainer;
}

const copied = (map: ReadonlyMap<string, Float32Array>): Map<string, Float32Array> =>
  new Map(Array.from(map, ([name, data]) => [name, data.slice()]));

/** What a step learns from, as the trainer hands it to the critic. */
function batchOf(states: Tensor): ValueBatch {
  const valued = golden.rows.flatMap(({ critic: columns, sampled }) =>
    columns === null
      ? []
      : sampled.flatMap((mask, i) =>
          mask === 1 ? [[columns.values[i]!, columns.returns[i]!] as const] : [],
        ),
  );
  return {
    states,
    values: Float64Array.from(valued, ([value]) => value),
    returns: Float64Array.from(valued, ([, target]) => target),
    factors: new Float64Array(valued.length).fill(1 / valued.length),
  };
}

/** Hidden states of the rows that have returns, in their order. */
async function statesOf(trainer: PolicyTrainer): Promise<Tensor> {
  const batches: ValueBatch[] = [];
  const { critic: head } = trainer;
  head.learn = async (batch) => {
    batches.push(batch);
    return {};
  };
  // One row at a time: an update sorts them by length.
  for (const row of rows.filter(({ returns }) => returns !== undefined)) {
    await trainer.forwardBackward([row], warmup);
    await trainer.optimStep(defaultOptim);
  }
  const all = batches.flatMap(({ states }) =>
    Array.from({ length: states.rows }, (_, r) => states.row(r)),
  );
  const states = newTensor(new Device({ threads: 1 }), all.length, all[0]!.length);
  for (const [r, row] of all.entries()) states.row(r).set(row);
  return states;
}

describe("a critic", () => {
  it("has torch's values", async () => {
    const valued = rows.filter(({ returns }) => returns !== undefined);
    const values = await (await trainerOf()).values(valued);
    const expected = golden.rows.flatMap((row) => (row.critic === null ? [] : [row.critic.now]));
    for (const [r, list] of expected.entries())
      for (const [i, value] of list.entries()) expect(values[r]![i]).toBeCloseTo(value, 5);
  });

  it("has torch's loss and gradients", async () => {
    const trainer = await trainerOf();
    const batch = batchOf(await statesOf(trainer));
    const { loss, clipped, gradients } = await trainer.critic.gradients(batch, golden.valueClip);
    expect(loss / batch.values.length).toBeCloseTo(golden.valueLoss, 5);
    expect(clipped / batch.values.length).toBeCloseTo(golden.clipFraction, 12);
    for (const [name, theirs] of Object.entries(golden.headGradients))
      expect(gradientDistance(gradients.get(name)!, theirs), name).toBeLessThan(1e-5);
  });

  it("has gradients that are differences of its loss", async () => {
    const trainer = await trainerOf();
    const batch = batchOf(await statesOf(trainer));
    const head = trainer.critic;
    const { gradients } = await head.gradients(batch, null);
    const distance = 1e-2;
    for (const [name, gradient] of gradients) {
      const data = head.data.get(name)!;
      const before = data.slice();
      const norm = Math.hypot(...gradient);
      const lossAt = async (to: number): Promise<number> => {
        data.set(before.map((x, i) => x + (to * gradient[i]!) / norm));
        return (await head.gradients(batch, null)).loss / batch.values.length;
      };
      const numeric = ((await lossAt(distance)) - (await lossAt(-distance))) / (2 * distance);
      data.set(before);
      expect(Math.abs(numeric - norm) / norm, name).toBeLessThan(1e-3);
    }
  });

  it("leaves the policy's loss and gradients as they are, to the bit", async () => {
    const [without, learning] = [await trainerOf(), await trainerOf()];
    const expected = await without.forwardBackward(rows, spec);
    expect(expected["loss"]).toBeCloseTo(golden.loss, 5);
    expect(await learning.forwardBackward(rows, { ...spec, critic })).toEqual(expected);
    expect(copied(learning.accumulatedGradients)).toEqual(copied(without.accumulatedGradients));
    for (const [name, theirs] of Object.entries(golden.gradients))
      expect(gradientDistance(learning.accumulatedGradients.get(name)!, theirs), name).toBeLessThan(
        1e-5,
      );
  });

  it("learns the same where layers are recomputed, in small batches, and in another thread", async () => {
    const learned = async (given: readonly TrainingRow[], memoryMiB?: number) => {
      const trainer = await trainerOf(memoryMiB);
      await trainer.forwardBackward(given, { ...spec, critic });
      const metrics = await trainer.optimStep(defaultOptim);
      return { metrics, head: copied(trainer.critic.data) };
    };
    const plain = await learned(rows);
    expect(plain.metrics["value_grad_norm"]).toBeGreaterThan(0);
    expect(await learned(rowsOfMessage(messageOfRows(rows)))).toEqual(plain);
    expect((await learned(rows, 0)).metrics["value_loss"]).toBeCloseTo(
      plain.metrics["value_loss"]!,
      5,
    );
  });

  it("learns alone while it warms up", async () => {
    const trainer = await trainerOf();
    expect(await trainer.forwardBackward(rows, warmup)).toEqual({ tokens: 22 });
    expect(trainer.accumulatedGradients.size).toBe(0);
    const before = copied(trainer.critic.data);
    const [policyBefore] = await trainer.forward(rows.slice(0, 1));
    expect(await trainer.optimStep(defaultOptim)).toEqual({
      value_loss: expect.any(Number),
      value_clip_fraction: expect.any(Number),
      value_grad_norm: expect.any(Number),
    });
    expect(trainer.critic.data).not.toEqual(before);
    expect(trainer.adam.step).toBe(0);
    const [policyAfter] = await trainer.forward(rows.slice(0, 1));
    expect(policyAfter).toEqual(policyBefore);
  });

  it("stays as it is where an update is refused, or a number is not finite", async () => {
    const trainer = await trainerOf();
    const before = copied(trainer.critic.data);
    await trainer.forwardBackward(rows, { ...spec, critic });
    const refuse = (): never => {
      throw new Error("refused");
    };
    await expect(trainer.optimStep(defaultOptim, refuse)).rejects.toThrow("refused");
    expect(await trainer.optimStep(defaultOptim)).toEqual({ grad_norm: 0 });
    const broken = rows.map((row) => ({
      ...row,
      ...(row.returns && { returns: row.returns.map(() => NaN) }),
    }));
    await expect(trainer.forwardBackward(broken, { ...spec, critic })).rejects.toThrow("A return");
    const wild = { ...critic, learningRate: 1e38, clip: null };
    await trainer.forwardBackward(rows, { ...spec, critic: wild });
    await expect(trainer.optimStep(defaultOptim)).rejects.toThrow("was not applied");
    expect(trainer.critic.data).toEqual(before);
    expect([trainer.adam.step, trainer.critic.adam.step]).toEqual([0, 0]);
  });

  it("learns what is easy to see: a value of each token", async () => {
    const trainer = new PolicyTrainer(await smallPolicy({ rank: 2, alpha: 4 }), { memoryMiB: 100 });
    const row = rowOf(
      Int32Array.from({ length: 24 }, (_, i) => (7 * i) % 40),
      4,
    );
    const returns = Float32Array.from(row.targetMask, (mask, i) => mask * Math.cos(i));
    const update = {
      ...warmup,
      critic: { ...warmup.critic, clip: null, epochs: 300, learningRate: 0.01 },
    };
    const [values] = await trainer.values([row]);
    expect(values).toEqual(new Float32Array(24));
    await trainer.forwardBackward([{ ...row, values: values!, returns }], update);
    await trainer.optimStep(defaultOptim);
    const [learned] = await trainer.values([row]);
    for (const [i, value] of learned!.entries()) expect(value).toBeCloseTo(returns[i]!, 1);
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
      /does not fit this model: "value\.gate_up\.weight"/u,
    );
  });
});
