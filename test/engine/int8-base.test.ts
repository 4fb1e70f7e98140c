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
import { storeIntegers } from "../../src/engine/model/integer-base.ts";
import { roundToInt8, type Int8Matrix } from "../../src/engine/model/int8-matrix.ts";
import { loadPolicyModel, type PolicyModel } from "../../src/engine/model/policy-model.ts";
import { PolicyEngine } from "../../src/engine/policy-engine.ts";
import { exactIntegerKernel, isExact } from "../../src/engine/probe-integers.ts";
import { PolicyTrainer } from "../../src/engine/training/policy-trainer.ts";
import { randomTokens, rowOf } from "./small-model.ts";

const path = fileURLToPath(new URL("../../models/shop-tiny/", import.meta.url));
const lora = { rank: 4, alpha: 8 };
const vocabSize = 512;

/** Ways to compute the same network. */
const ways = ["as this machine", "integers", "floats"] as const;
type Way = (typeof ways)[number];

async function int8Model(way: Way = "as this machine"): Promise<PolicyModel> {
  const integerProducts = way === "integers" ? "exact" : "fast";
  const options = { lora, seed: 3, quantization: "int8", integerProducts } as const;
  const policy = await loadPolicyModel(path, options);
  // An adapter with an effect.
  for (const [name, data] of policy.data)
    if (name.includes("lora_B")) data.set(data.map((_, i) => Math.sin(i) / 40));
  return way === "floats" ? { ...policy, integers: null } : policy;
}

const rows = [24, 17, 31].map((length, i) =>
  rowOf(randomTokens(i, length, vocabSize), 4, { advantage: [1, -0.6, 0.5][i]! }),
);
const crossEntropy = { ...defaultLoss, name: "cross_entropy" } as const;

/** The loss and its gradients with one way of computing. */
async function gradientsOf(way: Way): Promise<{ loss: number; all: Float32Array }> {
  const policy = await int8Model(way);
  const trainer = new PolicyTrainer(policy, { threads: 1, memoryMiB: 256 });
  try {
    const { loss } = await trainer.forwardBackward(rows, crossEntropy);
    const parts = [...trainer.accumulatedGradients.values()];
    return { loss: loss!, all: Float32Array.from(parts.flatMap((part) => [...part])) };
  } finally {
    await trainer.close();
    policy.scratch?.[Symbol.dispose]();
  }
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

describe("integer products", () => {
  it("uses none that is not exact on this machine", async () => {
    const kernel = await exactIntegerKernel();
    const isSafe = kernel === null || (await isExact(kernel));
    expect(isSafe).toBe(true);
  });

  it("keeps integers in memory where there is no folder, as signed and unsigned bytes", async () => {
    const config = { layers: 1 } as Parameters<typeof storeIntegers>[0];
    const matrices = (): Map<string, Int8Matrix> => {
      const parts = ["q_proj", "k_proj", "v_proj", "o_proj"].map((name) => `self_attn.${name}`);
      const all = [...parts, "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"];
      return new Map(
        all.map((part) => {
          const matrix = roundToInt8(Float32Array.of(1, -1, 0, 1, 1, 1), [2, 3]);
          return [`model.layers.0.${part}.weight`, matrix];
        }),
      );
    };
    const name = "model.layers.0.mlp.down_proj.weight";
    const signed = (await storeIntegers(config, matrices(), "int8", null)).groups.get(name)!;
    const unsigned = (await storeIntegers(config, matrices(), "uint8", null)).groups.get(name)!;
    expect(signed.backward).toEqual(Uint8Array.of(127, 129, 0, 127, 127, 127));
    expect(signed.forward).toEqual(Uint8Array.of(127, 127, 129, 127, 0, 127));
    expect(unsigned.backward).toEqual(Uint8Array.of(255, 1, 128, 255, 255, 255));
  });

  it("computes the network of the rounded weights, and its gradient", async () => {
    const floats = await gradientsOf("floats");
    for (const way of ["as this machine", "integers"] as const) {
      const found = await gradientsOf(way);
      expect(found.loss, way).toBeCloseTo(floats.loss, 3);
      expect(cosine(found.all, floats.all), way).toBeGreaterThan(0.998);
    }
  });

  it("gives a row the same numbers in every batch", async () => {
    const policy = await int8Model("integers");
    await using engine = await PolicyEngine.create(policy, { threads: 1 });
    const params = { ...defaultSampling, maxTokens: 12, stopTokenIds: [] };
    const requests = [0, 1, 2, 3].map((seed) => ({
      tokens: randomTokens(seed, 9, vocabSize),
      params: { ...params, seed },
    }));
    const together = await Promise.all(requests.map((request) => engine.sample(request)));
    for (const [i, request] of requests.entries())
      expect(await engine.sample(request)).toEqual(together[i]);
  });

  it.each(ways)("trains what it samples: %s", async (way) => {
    await using engine = await PolicyEngine.create(await int8Model(way), { threads: 1 });
    const prompt = randomTokens(5, 12, vocabSize);
    const params = { ...defaultSampling, maxTokens: 40, stopTokenIds: [], seed: 1 };
    const [sample] = await engine.sample({ tokens: prompt, params });
    const tokens = Int32Array.from([...prompt, ...sample!.tokens]);
    const row = rowOf(tokens, prompt.length, { logprobs: sample!.logprobs });
    const trained = await engine.forward([row]);
    expect(largestDifference([row.samplingLogprobs], trained)).toBeLessThan(2e-3);
  });
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
      await using engine = await PolicyEngine.create(await int8Model(), { threads: 1 });
      const losses = [await step(engine), await step(engine), await step(engine)];
      await engine.save(folder);
      const next = await step(engine);
      expect(next).toBeLessThan(losses[0]! - 0.05);
      await using other = await PolicyEngine.create(await int8Model(), { threads: 1 });
      await other.load(folder, 3);
      expect(await step(other)).toBe(next);
    });
  });

  it("is resumed only on the base that it was trained on", async () => {
    await temporary(async (folder) => {
      await using engine = await PolicyEngine.create(await int8Model(), { threads: 1 });
      await engine.save(folder);
      const plain = await loadPolicyModel(path, { lora, seed: 3 });
      await using other = await PolicyEngine.create(plain, { threads: 1 });
      await expect(other.load(folder, 1)).rejects.toMatchObject({
        code: "CHECKPOINT_INVALID",
        hint: "Resume with model.quantization=int8.",
      });
    });
  });

  it("merges into the network that was trained", async () => {
    await temporary(async (folder) => {
      const policy = await int8Model();
      await using engine = await PolicyEngine.create(policy, { threads: 1 });
      const expected = await engine.forward(rows);
      await engine.save(folder);
      const source = await openModelSource(path);
      const merged = mergeAdapter(source, await readLoraAdapter(folder));
      const data = new Map<string, Float32Array>();
      const names = policy.base.map(({ name }) => name);
      for await (const [name, values] of merged.read(names)) data.set(name, values);
      const whole: PolicyModel = {
        ...policy,
        lora: null,
        loraParameters: [],
        trained: policy.base,
        data,
        mapped: null,
        mappedFolder: null,
        integers: null,
      };
      const trainer = new PolicyTrainer(whole, { threads: 1, memoryMiB: 256 });
      try {
        expect(largestDifference(await trainer.forward(rows), expected)).toBeLessThan(2e-3);
      } finally {
        await trainer.close();
      }
    });
  });

  it("is refused where every weight is trained", async () => {
    const options = { lora: null, seed: 0, quantization: "int8" } as const;
    await expect(loadPolicyModel(path, options)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      fields: { option: "model.quantization", value: "int8" },
    });
  });
});
