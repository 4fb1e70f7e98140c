/** Configurations as they were published, against what transformers makes of them: `scripts/fixtures/make_families.py`. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { baseParameters, isAdapted, loraParameters, projections } from "./parameters.ts";
import { parseModelConfig } from "./parse-config.ts";

interface Described {
  readonly config: Readonly<Record<string, unknown>>;
  readonly parameters: number;
  readonly tensors: number;
  /** Of each layer: its window, and the last of its frequencies. */
  readonly layers: readonly (readonly [window: number | null, frequency: number | null])[];
  readonly attentionFactor: number;
}

const file = new URL("../../../test/fixtures/published-configs.json", import.meta.url);
const published = JSON.parse(readFileSync(file, "utf8")) as Readonly<Record<string, Described>>;

describe.each(Object.entries(published))("%s", (_, expected) => {
  const config = parseModelConfig(expected.config, "config.json");

  it("has as many parameters", () => {
    const sizes = baseParameters(config).map(({ shape }) => shape.reduce((n, dim) => n * dim, 1));
    expect(sizes).toHaveLength(expected.tensors);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(expected.parameters);
  });

  it("has layers with the same windows and frequencies", () => {
    for (const [layer, [window, frequency]] of expected.layers.entries()) {
      const { rope, window: ours } = config.layerKinds[layer]!;
      expect(ours).toBe(window === null || window >= config.contextLength ? null : window);
      if (frequency === null) expect(rope).toBeNull();
      else {
        expect(rope!.frequencies.at(-1)! / frequency).toBeCloseTo(1, 6);
        expect(rope!.attentionFactor).toBeCloseTo(expected.attentionFactor, 12);
      }
    }
  });
});

const of = (name: string, changes: object = {}): ReturnType<typeof parseModelConfig> =>
  parseModelConfig({ ...published[name]!.config, ...changes }, "config.json");

it("limits LongRoPE to the context that its short factors are for", () => {
  expect(of("Phi-4-mini-instruct").contextLength).toBe(4096);
  expect(of("Phi-3-mini-4k-instruct").contextLength).toBe(4096);
});

it("scales embeddings and scores of Gemma as its configuration says", () => {
  const { embeddingScale, attentionScale } = of("gemma-3-270m-it", { query_pre_attn_scalar: 168 });
  expect(embeddingScale).toBe(Math.fround(Math.sqrt(640)));
  expect(attentionScale).toBe(1 / Math.sqrt(168));
});

it("divides fused matrices into queries, keys and values, and into gate and up", () => {
  const config = of("Phi-4-mini-instruct");
  expect(projections(config, 3)).toEqual({
    queryKeyValue: [
      { name: "model.layers.3.self_attn.qkv_proj.weight", widths: [3072, 1024, 1024] },
    ],
    gateUp: [{ name: "model.layers.3.mlp.gate_up_proj.weight", widths: [8192, 8192] }],
  });
  expect(projections(of("Mistral-7B-v0.1"), 0).queryKeyValue.map(({ widths }) => widths)).toEqual([
    [4096],
    [1024],
    [1024],
  ]);
});

it("adapts a fused matrix as a whole, or not at all", () => {
  const config = of("Phi-3-mini-4k-instruct");
  const lora = { rank: 2, alpha: 4 };
  const fused = "model.layers.0.self_attn.qkv_proj.weight";
  expect(isAdapted(fused)).toBe(true);
  expect(isAdapted(fused, { ...lora, targets: ["o_proj"] })).toBe(false);
  const names = loraParameters(config, {
    ...lora,
    targets: ["q_proj", "k_proj", "v_proj", "o_proj"],
  }).map(({ name }) => /\.(\w+_proj)\.lora_/u.exec(name)![1]);
  expect([...new Set(names)]).toEqual(["qkv_proj", "o_proj"]);
  expect(() => loraParameters(config, { ...lora, targets: ["q_proj", "v_proj"] })).toThrow(
    /names q_proj and v_proj, but this model has q_proj, k_proj, v_proj as one matrix \(qkv_proj\)/u,
  );
});

it.each([
  ["gemma-3-1b-it", { architectures: ["Gemma3ForConditionalGeneration"] }, /reads images/u],
  ["gemma-3-1b-it", { final_logit_softcapping: 30 }, /"final_logit_softcapping" is not supported/u],
  ["gemma-3-1b-it", { use_bidirectional_attention: true }, /"use_bidirectional_attention"/u],
  ["gemma-3-1b-it", { hidden_activation: "gelu" }, /supported: "gelu_pytorch_tanh"/u],
  ["Mistral-7B-v0.1", { sliding_window: 0 }, /"sliding_window" is 0/u],
  ["Mistral-7B-v0.1", { sliding_window: "4096" }, /"sliding_window" is "4096"/u],
  ["Phi-4-mini-instruct", { partial_rotary_factor: 1 }, /"short_factor" is not a list of 64/u],
  ["Phi-4-mini-instruct", { partial_rotary_factor: 2 }, /"partial_rotary_factor" is 2/u],
  ["Phi-4-mini-instruct", { partial_rotary_factor: 0.001 }, /"partial_rotary_factor"/u],
  ["OLMo-2-0425-1B-Instruct", { rope_scaling: { type: "yarn" } }, /"yarn" is not supported/u],
])("refuses %s with %j", (name, changes, message) => {
  expect(() => of(name, changes)).toThrow(message);
});
