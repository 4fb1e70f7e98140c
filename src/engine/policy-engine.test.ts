import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defaultLoss, defaultOptim } from "../core/loss/loss.ts";
import { toBfloat16 } from "./checkpoint/half-floats.ts";
import { encodeSafetensors } from "./checkpoint/safetensors.ts";
import { loadPolicy, type Policy } from "./decoder/policy.ts";
import { baseParameters } from "./model/parameters.ts";
import { PolicyEngine } from "./policy-engine.ts";
import { Device } from "./tensor/device.ts";
import {
  randomTokens,
  rowOf,
  smallConfig,
  smallPolicy,
  smallWeights,
} from "../../test/engine/small-model.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "engine-"));
});
afterAll(() => rm(root, { recursive: true }));

const params = {
  temperature: 1,
  topP: 1,
  topK: 0,
  minP: 0,
  maxTokens: 20,
  stopTokenIds: [],
  seed: 3,
};
const optim = { ...defaultOptim, learningRate: 1e-2 };
const rows = [rowOf(randomTokens(1, 24), 4), rowOf(randomTokens(2, 30), 9, { advantage: -1 })];
const loss = { ...defaultLoss, name: "importance_sampling" } as const;

for (const lora of [null, { rank: 4, alpha: 8 }]) {
  describe(lora === null ? "PolicyEngine, all weights" : "PolicyEngine, LoRA", () => {
    it("samples with published weights only", async () => {
      await using engine = await PolicyEngine.create(await smallPolicy(lora));
      const request = { tokens: randomTokens(9, 8), params };
      const sample = async (): Promise<number[]> => [
        ...(await engine.sample(request))[0]!.logprobs,
      ];
      const before = await sample();
      await engine.forwardBackward(rows, loss);
      await engine.optimStep(optim);
      expect(await sample()).toEqual(before);
      expect(await engine.publish()).toBe(1);
      expect(await sample()).not.toEqual(before);
    });

    it("continues from a saved state exactly as if it had not been interrupted", async () => {
      const folder = await mkdtemp(join(root, "state-"));
      const step = async (engine: PolicyEngine): Promise<unknown> => [
        await engine.forwardBackward(rows, loss),
        await engine.optimStep(optim),
      ];
      await using first = await PolicyEngine.create(await smallPolicy(lora));
      await step(first);
      await step(first);
      await first.save(folder);
      const expected = [await step(first), await step(first)];
      await using second = await PolicyEngine.create(await smallPolicy(lora));
      await second.load(folder, 2);
      expect([await step(second), await step(second)]).toEqual(expected);
      const [sample] = await second.sample({ tokens: randomTokens(9, 8), params });
      expect(sample!.weightVersion).toBe(2);
    });

    it("saves one moment of weights and optimizer, although a step comes meanwhile", async () => {
      const folder = await mkdtemp(join(root, "moment-"));
      const later = await mkdtemp(join(root, "later-"));
      await using engine = await PolicyEngine.create(await smallPolicy(lora));
      const files = ["optimizer.state", `${lora === null ? "" : "adapter_"}model.safetensors`];
      const read = (from: string) =>
        files.map((file) =>
          createHash("sha256")
            .update(readFileSync(join(from, file)))
            .digest("hex"),
        );
      await engine.forwardBackward(rows, loss);
      await engine.optimStep(optim);
      await engine.save(later);
      const before = read(later);
      await engine.forwardBackward(rows, loss);
      await Promise.all([engine.save(folder), engine.optimStep(optim)]);
      expect(read(folder)).toEqual(before);
    });

    it("runs what is begun at the same time one after the other", async () => {
      await using engine = await PolicyEngine.create(await smallPolicy(lora));
      const alone = async (run: (engine: PolicyEngine) => Promise<unknown>): Promise<unknown> => {
        await using other = await PolicyEngine.create(await smallPolicy(lora));
        await other.forwardBackward(rows, loss);
        return run(other);
      };
      const forward = (own: PolicyEngine): Promise<unknown> => own.forward(rows.toReversed());
      const entropies = (own: PolicyEngine): Promise<unknown> => own.entropies(rows);
      const [, forwarded, measured, stepped, after] = await Promise.all([
        engine.forwardBackward(rows, loss),
        forward(engine),
        entropies(engine),
        engine.optimStep(optim),
        forward(engine),
      ]);
      expect(forwarded).toEqual(await alone(forward));
      expect(measured).toEqual(await alone(entropies));
      expect(stepped).toEqual(await alone((own) => own.optimStep(optim)));
      expect(after).not.toEqual(forwarded);
    });

    it("refuses the state of another model and stays as it was", async () => {
      const folder = await mkdtemp(join(root, "other-"));
      await using other = await PolicyEngine.create(
        await smallPolicy(lora, { config: { ...smallConfig, ffnSize: 64 } }),
      );
      await other.save(folder);
      await using engine = await PolicyEngine.create(await smallPolicy(lora));
      const before = await engine.forward(rows);
      await expect(engine.load(folder, 1)).rejects.toMatchObject({ code: "CHECKPOINT_INVALID" });
      expect(await engine.forward(rows)).toEqual(before);
    });
  });
}

describe("loadPolicy", () => {
  const config = {
    architectures: ["LlamaForCausalLM"],
    vocab_size: 48,
    hidden_size: 32,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    intermediate_size: 48,
    rms_norm_eps: 1e-5,
    rope_theta: 10_000,
    max_position_embeddings: 640,
    tie_word_embeddings: true,
  };
  const write = async (
    changes: object = {},
    drop = "",
    numbers: (data: Float32Array) => Float32Array | Uint16Array = (data) => data,
  ): Promise<string> => {
    const folder = await mkdtemp(join(root, "model-"));
    const weights = smallWeights();
    const tensors = new Map(
      baseParameters(smallConfig).map(({ name, shape }) => [
        name,
        { shape, data: numbers(weights.get(name)!) },
      ]),
    );
    tensors.delete(drop);
    await writeFile(join(folder, "model.safetensors"), encodeSafetensors(tensors));
    await writeFile(join(folder, "config.json"), JSON.stringify({ ...config, ...changes }));
    return folder;
  };

  const load = (
    folder: string,
    lora: Policy["lora"] = null,
    precision: Policy["precision"] = "f32",
  ): Promise<Policy> =>
    loadPolicy(folder, { device: new Device({ threads: 1 }), lora, seed: 1, precision });

  it.each(["f32", "bf16"] as const)(
    "computes the same with and without an adapter that has no effect: %s",
    async (precision) => {
      const folder = await write();
      await using whole = await PolicyEngine.create(await load(folder, null, precision));
      const policy = await load(folder, { rank: 4, alpha: 8 }, precision);
      expect([...policy.data.keys()].every((name) => name.includes("lora_"))).toBe(true);
      await using adapted = await PolicyEngine.create(policy);
      expect(await adapted.forward(rows)).toEqual(await whole.forward(rows));
    },
  );

  it("keeps a frozen base of bf16 as it is, and computes in f32 what its numbers give", async () => {
    const folder = await write({}, "", toBfloat16);
    const policy = await load(folder, { rank: 4, alpha: 8 });
    expect(policy.weights.head.format).toBe("bf16");
    await using adapted = await PolicyEngine.create(policy);
    await using whole = await PolicyEngine.create(await load(folder));
    expect(await adapted.forward(rows)).toEqual(await whole.forward(rows));
  });

  it.each([
    [{ architectures: ["GPT2LMHeadModel"] }, "", /GPT2LMHeadModel.*LlamaForCausalLM/],
    [{ num_hidden_layers: 0 }, "", /num_hidden_layers.*0/],
    [{ rope_scaling: { rope_type: "yarn" } }, "", /yarn.*llama3/],
    [{ rope_scaling: { rope_type: "linear" } }, "", /factor/],
    [{ attention_bias: true }, "", /attention_bias/],
    [{ hidden_act: "gelu" }, "", /gelu/],
    [{}, "model.norm.weight", /model\.norm\.weight.*missing/],
    [{ intermediate_size: 50 }, "", /has shape/],
  ])("refuses %j %s", async (changes, drop, message) => {
    await expect(load(await write(changes, drop))).rejects.toThrow(message);
  });

  it("says what a model folder is when there is none", async () => {
    await expect(load(join(root, "nowhere"))).rejects.toMatchObject({ code: "MODEL_INVALID" });
  });
});
