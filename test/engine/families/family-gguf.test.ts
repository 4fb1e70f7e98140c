/** GGUF files of the families against llama.cpp's converter: read and written; fixtures by `scripts/fixtures/make_gguf.py`. */
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exportGguf } from "../../../src/engine/checkpoint/gguf/export-gguf.ts";
import { openGguf } from "../../../src/engine/checkpoint/gguf/gguf-file.ts";
import { fromHalf, toHalf } from "../../../src/engine/checkpoint/half-floats.ts";
import type { ModelSource } from "../../../src/engine/checkpoint/model-source.ts";
import { openModelSource } from "../../../src/engine/checkpoint/open-model-source.ts";
import { fitSource } from "../../../src/engine/model/fit-source.ts";
import { familyFixture } from "./family-fixtures.ts";

const converted = (name: string): string =>
  fileURLToPath(new URL(`../../fixtures/gguf/${name}.gguf`, import.meta.url));

/** What files of the family take for granted; the converter was given a model that has it. */
const implied: Readonly<Record<string, object>> = {
  mistral: { architectures: ["LlamaForCausalLM"], sliding_window: null },
  gemma3: {
    layer_types: Array<string>(4).fill("sliding_attention"),
    query_pre_attn_scalar: 16,
    rope_parameters: { sliding_attention: { rope_theta: 10_000 } },
  },
};

async function original(name: string): Promise<ModelSource> {
  const source = await openModelSource(familyFixture(name).folder);
  return { ...source, config: { ...source.config, ...implied[name] } };
}

async function readAll(source: ModelSource): Promise<Map<string, Float32Array>> {
  const all = new Map<string, Float32Array>();
  for await (const [name, data] of source.read([...source.tensors.keys()])) all.set(name, data);
  return all;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "family-gguf-"));
});
afterAll(() => rm(folder, { recursive: true }));

const names = ["mistral", "gemma3", "smollm3", "phi3", "phi4-mini", "olmo2"];

describe.each(names)("%s", (name) => {
  it("is read as the model that was converted", async () => {
    const [ours, theirs] = [await original(name), await openModelSource(converted(name))];
    const { layerKinds, ...shape } = fitSource(theirs).config;
    const { layerKinds: expectedKinds, ...expectedShape } = fitSource(ours).config;
    expect(shape).toEqual(expectedShape);
    for (const [layer, { rope, window }] of expectedKinds.entries()) {
      expect(layerKinds[layer]!.window).toBe(window);
      const factor = rope?.attentionFactor ?? 0;
      expect(layerKinds[layer]!.rope?.attentionFactor ?? 0).toBeCloseTo(factor, 6);
      expect(layerKinds[layer]!.rope?.frequencies).toEqual(rope?.frequencies);
    }
    const weights = await readAll(theirs);
    const expected = await readAll(ours);
    expect([...weights.keys()].toSorted()).toEqual([...expected.keys()].toSorted());
    for (const [tensor, data] of expected) {
      const kept = tensor.endsWith("norm.weight") ? data : fromHalf(toHalf(data));
      const found = weights.get(tensor)!;
      // Adding 1 to a norm and subtracting it again costs its last bits.
      for (const [i, value] of kept.entries())
        expect(Math.abs(found[i]! - value), tensor).toBeLessThan(name === "gemma3" ? 1e-6 : 1e-30);
    }
  });

  it("is written as by the converter", async () => {
    const file = join(folder, `${name}.gguf`);
    await exportGguf(await original(name), file, { format: "f16", name, tokenizer: new Map() });
    const [ours, theirs] = [await openGguf(file), await openGguf(converted(name))];
    expect([...ours.tensors.keys()].toSorted()).toEqual([...theirs.tensors.keys()].toSorted());
    const [ourBytes, theirBytes] = [readFileSync(file), readFileSync(converted(name))];
    for (const [tensor, { offset, length, type }] of theirs.tensors) {
      const found = ours.tensors.get(tensor)!;
      expect(found.type.name, tensor).toBe(type.name);
      const [a, b] = [
        ourBytes.subarray(found.offset, found.offset + length),
        theirBytes.subarray(offset, offset + length),
      ];
      expect(a.equals(b), tensor).toBe(true);
    }
    const prefix = String(theirs.metadata["general.architecture"]);
    let compared = 0;
    for (const [key, value] of Object.entries(theirs.metadata)) {
      if (!key.startsWith(`${prefix}.`)) continue;
      // The converter writes its default where a model has no long context, or no global layers.
      if (name === "phi3" && key.endsWith("original_context_length")) continue;
      if (name === "gemma3" && key.endsWith("freq_base")) continue;
      expect(ours.metadata[key], key).toEqual(value);
      compared += 1;
    }
    expect(compared).toBeGreaterThan(6);
  });
});

it.each([
  [
    "mistral",
    { architectures: ["MistralForCausalLM"], sliding_window: 9 },
    /llama cannot say this model's layerKinds/u,
  ],
  ["gemma3", { query_pre_attn_scalar: 20 }, /gemma3 cannot say this model's attentionScale/u],
  ["smollm3", { no_rope_layers: [1, 0, 1, 1] }, /smollm3 cannot say this model's layerKinds/u],
])("refuses to write a %s with %j, which would be lost", async (name, change, message) => {
  const source = await openModelSource(familyFixture(name).folder);
  const config = { ...source.config, ...implied[name], ...change };
  const options = { format: "f16", name, tokenizer: new Map() } as const;
  await expect(
    exportGguf({ ...source, config }, join(folder, "refused.gguf"), options),
  ).rejects.toThrow(message);
});
