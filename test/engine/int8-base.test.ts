/** A base in 8-bit integers: one network, sampled and trained, whatever computes its products. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { defaultLoss, defaultOptim } from "../../src/core/loss/loss.ts";
import { defaultSampling } from "../../src/core/policy.ts";
import { int8Source } from "../../src/engine/checkpoint/int8-source.ts";
import { mergeAdapter, readLoraAdapter } from "../../src/engine/checkpoint/lora-adapter.ts";
import { openModelSource } from "../../src/engine/checkpoint/open-model-source.ts";
import { roundToInt8 } from "../../src/engine/model/int8-matrix.ts";
import { PolicyEngine } from "../../src/engine/policy-engine.ts";
import {
  createPolicy,
  sharedDecoder,
  writeTrained,
  type Policy,
} from "../../src/engine/decoder/policy.ts";
import { PolicyTrainer } from "../../src/engine/training/trainer.ts";
import { fitSource } from "../../src/engine/model/fit-source.ts";
import { BatchSampler } from "../../src/engine/generation/batch-sampler.ts";
import { Device } from "../../src/engine/tensor/device.ts";
import type { Precision } from "../../src/core/precision.ts";
import { openPolicy } from "./open-policy.ts";
import { changeWeights, randomTokens, rowOf } from "./small-model.ts";

const path = fileURLToPath(new URL("../../models/shop-tiny/", import.meta.url));
const lora = { rank: 4, alpha: 8 };
const vocabSize = 512;

/** With an adapter that has an effect. */
async function withEffect(policy: Policy): Promise<Policy> {
  await changeWeights(policy, (name, data) => {
    if (name.includes("lora_B")) data.set(data.map((_, i) => Math.sin(i) / 40));
  });
  return policy;
}

const int8Model = async (precision: Precision = "f32"): Promise<Policy> =>
  withEffect(await openPolicy(path, lora, { seed: 3, quantization: "int8", precision }));

/** The same network with the rounded weights as floats. */
async function roundedModel(): Promise<Policy> {
  const source = int8Source(await openModelSource(path));
  const { config, base } = fitSource(source);
  const device = new Device({ threads: 1 });
  const values = source.read(base.map(({ name }) => name));
  return withEffect(await createPolicy(config, values, { device, lora, seed: 3 }));
}

const rows = [24, 17, 31].map((length, i) =>
  rowOf(randomTokens(i, length, vocabSize), 4, { advantage: [1, -0.6, 0.5][i]! }),
);
const crossEntropy = { ...defaultLoss, name: "cross_entropy" } as const;

/** The loss and its gradients. */
async function gradientsOf(policy: Policy): Promise<{ loss: number; all: Float32Array }> {
  const trainer = new PolicyTrainer(policy, { memoryMiB: 256 });
  const { loss } = await trainer.forwardBackward(rows, crossEntropy);
  const parts = [...trainer.accumulatedGradients.values()];
  return { loss: loss!, all: Float32Array.from(parts.flatMap((part) => [...part])) };
}

function cosine(a: Float32Array, b: Float32Array): number {
  let [dot, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    dot += a[i]! * b[i]!;
    aa += a[i]! ** 2;
    bb += b[i]! ** 2;
  }
  return dot / Math.sqrt(aa * bb);
}

const largestDifference = (a: readonly Float32Array[], b: readonly Float32Array[]): number =>
  Math.max(...a.flatMap((row, r) => [...row].map((x, i) => Math.abs(x - b[r]![i]!))));

async function temporary<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "int8-base-"));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe("rounding", () => {
  it("takes the largest weight of each output as 127", () => {
    const weights = Float32Array.of(1, -0.4, 0.25, 0, 0, 0, -254, 3, 1);
    const { integers, scales } = roundToInt8(weights, [3, 3]);
    expect([...integers]).toEqual([127, -51, 32, 0, 0, 0, -127, 2, 1]);
    expect([...scales]).toEqual([Math.fround(1 / 127), 0, 2]);
    expect([...weights.slice(6)]).toEqual([-254, 4, 2]);
  });

  it("leaves what is rounded already", () => {
    const weights = Float32Array.from({ length: 40 }, (_, i) => Math.sin(i * i));
    const once = roundToInt8(weights, [4, 10]);
    const twice = roundToInt8(weights.slice(), [4, 10]);
    expect(twice.integers).toEqual(once.integers);
  });

  it("rounds linear layers of a model on disk, and nothing else", async () => {
    const source = await openModelSource(path);
    const names = ["model.norm.weight", "model.layers.0.mlp.up_proj.weight"];
    const read = async (from: typeof source) => {
      const data = new Map<string, Float32Array>();
      for await (const [name, values] of from.read(names)) data.set(name, values);
      return names.map((name) => data.get(name)!);
    };
    const [norm, up] = await read(source);
    const [sameNorm, rounded] = await read(int8Source(source));
    expect(sameNorm).toEqual(norm);
    expect(rounded).not.toEqual(up);
    expect(cosine(rounded!, up!)).toBeGreaterThan(0.9999);
  });
});

describe("a network of rounded weights", () => {
  it("is computed as with floats of the same values, and has its gradient", async () => {
    const floats = await gradientsOf(await roundedModel());
    const found = await gradientsOf(await int8Model());
    expect(found.loss).toBeCloseTo(floats.loss, 5);
    expect(largestDifference([found.all], [floats.all])).toBeLessThan(1e-5);
  });

  it("keeps its linear layers in a byte each", async () => {
    const { parts } = (await int8Model()).weights;
    const formats = Array.from(parts.matrices, ([name, { format }]) => [name, format] as const);
    for (const [name, format] of formats)
      expect(format, name).toBe(name.includes("_proj") ? "i8" : "f32");
    expect(formats.length).toBeGreaterThan(10);
  });

  it("has the gradients of every factor, in bf16 as near as bf16 is", async () => {
    const gradients = async (policy: Policy): Promise<ReadonlyMap<string, Float32Array>> => {
      const trainer = new PolicyTrainer(policy, { memoryMiB: 256 });
      await trainer.forwardBackward(rows, crossEntropy);
      return trainer.accumulatedGradients;
    };
    const expected = await gradients(await roundedModel());
    for (const [precision, cosineAbove] of [
      ["f32", 1 - 1e-6],
      ["bf16", 0.999],
    ] as const) {
      const found = await gradients(await int8Model(precision));
      expect([...found.keys()]).toEqual([...expected.keys()]);
      for (const [name, own] of found)
        expect(cosine(own, expected.get(name)!), `${precision} ${name}`).toBeGreaterThan(
          cosineAbove,
        );
    }
  });

  it("is shared with decoders that are served, and is the reference without its adapter", async () => {
    const policy = await int8Model();
    const params = { ...defaultSampling, maxTokens: 20, stopTokenIds: [], seed: 1 };
    const sampled = (weights: Policy["weights"]) =>
      new BatchSampler(weights).sample({ tokens: randomTokens(1, 9, vocabSize), params });
    const served = sharedDecoder(policy, lora);
    await writeTrained(policy, served);
    expect(await sampled(served)).toEqual(await sampled(policy.weights));
    const plain = await openPolicy(path, lora, { seed: 3, quantization: "int8" });
    const reference = sharedDecoder(policy, null);
    expect(await sampled(reference)).toEqual(await sampled(plain.weights));
    expect(reference.parts).toBe(policy.weights.parts);
  });

  it.each(["f32", "bf16"] as const)(
    "trains what it samples, to the bit, in %s",
    async (precision) => {
      await using engine = await PolicyEngine.create(await int8Model(precision));
      const requests = [0, 1, 2, 3].map((seed) => ({
        tokens: randomTokens(seed, 9 + seed, vocabSize),
        params: { ...defaultSampling, maxTokens: 40, stopTokenIds: [], seed },
      }));
      const together = await Promise.all(requests.map((request) => engine.sample(request)));
      for (const [i, { tokens }] of requests.entries()) {
        expect(await engine.sample(requests[i]!)).toEqual(together[i]);
        const [sample] = together[i]!;
        const row = rowOf(Int32Array.from([...tokens, ...sample!.tokens]), tokens.length);
        const [trained] = await engine.forward([row]);
        expect(trained!.subarray(tokens.length)).toEqual(sample!.logprobs);
      }
    },
  );
});

describe("a run on an int8 base", () => {
  it("learns, and resumes to the same numbers", async () => {
    await temporary(async (folder) => {
      const optim = { ...defaultOptim, learningRate: 3e-3 };
      const step = async (engine: PolicyEngine): Promise<number> => {
        const { loss } = await engine.forwardBackward(rows.slice(0, 1), crossEntropy);
        await engine.optimStep(optim);
        return loss!;
      };
      await using engine = await PolicyEngine.create(await int8Model());
      const losses = [await step(engine), await step(engine), await step(engine)];
      await engine.save(folder);
      const next = await step(engine);
      expect(next).toBeLessThan(losses[0]! - 0.05);
      await using other = await PolicyEngine.create(await int8Model());
      await other.load(folder, 3);
      expect(await step(other)).toBe(next);
    });
  });

  it("is resumed only on the base that it was trained on", async () => {
    await temporary(async (folder) => {
      await using engine = await PolicyEngine.create(await int8Model());
      await engine.save(folder);
      await using other = await PolicyEngine.create(await openPolicy(path, lora));
      await expect(other.load(folder, 1)).rejects.toMatchObject({
        code: "CHECKPOINT_INVALID",
        hint: "Resume with model.quantization=int8.",
      });
    });
  });

  it("merges into the network that was trained", async () => {
    await temporary(async (folder) => {
      await using engine = await PolicyEngine.create(await int8Model());
      const expected = await engine.forward(rows);
      await engine.save(folder);
      const merged = mergeAdapter(await openModelSource(path), await readLoraAdapter(folder));
      const { config, base } = fitSource(merged);
      const device = new Device({ threads: 1 });
      const values = merged.read(base.map(({ name }) => name));
      const whole = await createPolicy(config, values, { device, lora: null, seed: 0 });
      const trainer = new PolicyTrainer(whole, { memoryMiB: 256 });
      expect(largestDifference(await trainer.forward(rows), expected)).toBeLessThan(2e-3);
    });
  });

  it("is refused where every weight is trained", async () => {
    await expect(openPolicy(path, null, { quantization: "int8" })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      fields: { option: "model.quantization", value: "int8" },
    });
  });
});
