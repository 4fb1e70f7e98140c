/** Exported models: GGUF as llama.cpp's converter writes it, folders as they were, adapters merged as PEFT does. */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, open, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findModelAssets } from "../../src/engine/checkpoint/model-assets.ts";
import { exportFolder } from "../../src/engine/checkpoint/export-folder.ts";
import { exportGguf } from "../../src/engine/checkpoint/gguf/export-gguf.ts";
import { openGguf } from "../../src/engine/checkpoint/gguf/gguf-file.ts";
import { mergeAdapter, readLoraAdapter } from "../../src/engine/checkpoint/lora-adapter.ts";
import { openModelSource } from "../../src/engine/checkpoint/open-model-source.ts";
import type { ModelSource } from "../../src/engine/checkpoint/model-source.ts";
import { openPolicy } from "./open-policy.ts";
import { PolicyTrainer } from "../../src/engine/training/trainer.ts";
import { readGgufTokenizer } from "../../src/models/tokenizers/gguf-tokenizer.ts";
import { writeGgufTokenizer } from "../../src/models/tokenizers/gguf-vocabulary.ts";
import { createTokenizer } from "../../src/models/tokenizers/tokenizer.ts";
import { loadReal } from "../renderers/real-tokenizers.ts";
import { rowOf } from "./small-model.ts";

const fixture = (path: string): string =>
  fileURLToPath(new URL(`../fixtures/${path}`, import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "export-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Raw bytes of every tensor of a GGUF file. */
async function rawTensors(path: string): Promise<Map<string, { type: string; bytes: Buffer }>> {
  const handle = await open(path, "r");
  const raw = new Map<string, { type: string; bytes: Buffer }>();
  for (const [name, { type, offset, length }] of (await openGguf(path)).tensors) {
    const bytes = Buffer.alloc(length);
    await handle.read(bytes, 0, length, offset);
    raw.set(name, { type: type.name, bytes });
  }
  await handle.close();
  return raw;
}

async function readAll(source: ModelSource): Promise<Map<string, Float32Array>> {
  const all = new Map<string, Float32Array>();
  for await (const [name, data] of source.read([...source.tensors.keys()])) all.set(name, data);
  return all;
}

describe("GGUF", () => {
  it.each([
    ["llama-3-rope", "f32"],
    ["llama-tied", "f16"],
    ["llama-untied-sharded", "q8_0"],
    ["qwen2", "bf16"],
    ["qwen3", "f16"],
  ] as const)("of %s in %s is what llama.cpp's converter writes", async (name, format) => {
    const source = await openModelSource(fixture(`parity/${name}`));
    const file = join(folder, `${name}.gguf`);
    await exportGguf(source, file, { format, name, tokenizer: new Map() });
    const ours = await rawTensors(file);
    const theirs = await rawTensors(fixture(`gguf/${name}.gguf`));
    expect([...ours.keys()].toSorted()).toEqual([...theirs.keys()].toSorted());
    for (const [tensor, { type, bytes }] of theirs) {
      expect(ours.get(tensor)!.type, tensor).toBe(type);
      if (tensor !== "rope_freqs.weight")
        expect(ours.get(tensor)!.bytes.equals(bytes), tensor).toBe(true);
    }
    const theirMetadata = (await openGguf(fixture(`gguf/${name}.gguf`))).metadata;
    const ourMetadata = (await openGguf(file)).metadata;
    let compared = 0;
    for (const [key, value] of Object.entries(theirMetadata)) {
      if (!/^(?:llama|qwen\d|general\.(?:architecture|file_type))/u.test(key)) continue;
      if (key.endsWith("rope.scaling.type")) continue;
      expect(ourMetadata[key], key).toEqual(value);
      compared += 1;
    }
    expect(compared).toBeGreaterThan(8);
  });

  it("has Llama 3's rope factors", async () => {
    const theirs = await rawTensors(fixture("gguf/llama-3-rope.gguf"));
    const ours = await rawTensors(join(folder, "llama-3-rope.gguf"));
    const factors = (raw: Map<string, { bytes: Buffer }>): Float32Array =>
      new Float32Array(new Uint8Array(raw.get("rope_freqs.weight")!.bytes).buffer);
    const [a, b] = [factors(ours), factors(theirs)];
    expect(Math.max(...b)).toBe(8);
    for (const [i, factor] of b.entries()) expect(a[i]! / factor).toBeCloseTo(1, 5);
  });

  it("keeps a published tokenizer through a file", async () => {
    const { json, config, tokenizer } = loadReal("llama3_2");
    const source = await openModelSource(fixture("parity/llama-tied"));
    const file = join(folder, "tokenizer.gguf");
    const vocabSize = 128_256;
    const values = writeGgufTokenizer({ tokenizer: json as never, config }, vocabSize, "llama");
    await exportGguf(source, file, { format: "f32", name: "t", tokenizer: values });
    const { metadata } = await openGguf(file);
    expect(metadata["tokenizer.ggml.pre"]).toBe("llama-bpe");
    expect(metadata["tokenizer.ggml.add_bos_token"]).toBe(true);
    const again = readGgufTokenizer(metadata, file);
    expect(again.config).toMatchObject({
      bos_token: config.bos_token,
      eos_token: config.eos_token,
      chat_template: config.chat_template,
    });
    const ours = createTokenizer(again.tokenizer, file);
    for (const text of ["Hello 12345 wörld\n\n  x", "it's 日本語 🙂"])
      expect(ours.encode(text)).toEqual(tokenizer.encode(text));
  });

  it.each(["qwen2_5", "qwen3"] as const)("knows the pre-tokenizer of %s", (model) => {
    const { json, config } = loadReal(model);
    const values = writeGgufTokenizer({ tokenizer: json as never, config }, 151_936, model);
    expect(values.get("tokenizer.ggml.pre")).toBe("qwen2");
    expect(values.get("tokenizer.ggml.add_bos_token")).toBe(false);
  });

  it.each<[string, string, readonly number[], object]>([
    ["<|im_end|>", "the end of the text", [151_645, 151_643], {}],
    ["<|endoftext|>", "another end", [151_645, 151_643], { eot: 151_645 }],
    [
      "<|endoftext|>",
      "two other ends",
      [151_645, 151_644, 151_643],
      { eot: 151_645, eom: 151_644 },
    ],
    ["<|endoftext|>", "ends without it", [151_645], { eot: 151_645 }],
    ["<|endoftext|>", "no template", [], {}],
  ])("lists the ends of turns next to %s: %s", (eos, _, ends, wanted) => {
    const { json, config } = loadReal("qwen2_5");
    const files = { tokenizer: json as never, config: { ...config, eos_token: eos } };
    const values = writeGgufTokenizer(files, 151_936, "qwen", ends);
    const written = ["eot", "eom"].flatMap((key) => {
      const value = values.get(`tokenizer.ggml.${key}_token_id`);
      return value === undefined ? [] : [[key, (value as { uint32: number }).uint32]];
    });
    expect(Object.fromEntries(written)).toEqual(wanted);
  });

  it("refuses a tokenizer of another kind, and to overwrite a file", async () => {
    const unigram = { tokenizer: { model: { type: "Unigram" } }, config: {} };
    expect(() => writeGgufTokenizer(unigram, 10, "x")).toThrow(/"Unigram", not "BPE"/);
    const source = await openModelSource(fixture("parity/llama-tied"));
    await expect(
      exportGguf(source, join(folder, "llama-tied.gguf"), {
        format: "f16",
        name: "x",
        tokenizer: new Map(),
      }),
    ).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });
});

describe("a folder", () => {
  it("made of a GGUF file has the original's weights, in shards", async () => {
    const source = await openModelSource(fixture("gguf/llama-3-rope.gguf"));
    const out = join(folder, "sharded");
    const steps: number[] = [];
    await exportFolder(source, out, {
      format: "f32",
      assets: new Map(),
      maxShardBytes: 20_000,
      onProgress: (done) => steps.push(done),
    });
    expect(steps.at(-1)).toBe(source.tensors.size);
    expect((await readdir(out)).filter((name) => name.endsWith(".safetensors")).length).toBe(4);
    const again = await readAll(await openModelSource(out));
    const original = await openModelSource(fixture("parity/llama-3-rope"));
    for (const [name, data] of await readAll(original)) expect(again.get(name), name).toEqual(data);
  });

  it("leaves nothing behind when it is interrupted", async () => {
    const source = await openModelSource(fixture("parity/llama-tied"));
    const controller = new AbortController();
    const out = join(folder, "interrupted");
    await expect(
      exportFolder(source, out, {
        format: "f32",
        assets: findModelAssets(fixture("parity/llama-tied")),
        signal: controller.signal,
        onProgress: () => controller.abort(),
      }),
    ).rejects.toThrow(/abort/u);
    expect((await readdir(folder)).filter((name) => name.includes("interrupted"))).toEqual([]);
  });
});

describe("adapters", () => {
  it.each(["all-layers", "rank-stabilised", "patterns"])(
    "%s, merged, computes what PEFT computes",
    async (name) => {
      const base = await openModelSource(fixture("parity/llama-tied"));
      const adapter = await readLoraAdapter(fixture(`adapters/${name}`));
      expect(adapter.baseModel).toBe("../../parity/llama-tied");
      const out = join(folder, name);
      const assets = findModelAssets(fixture("parity/llama-tied"));
      await exportFolder(mergeAdapter(base, adapter), out, { format: "f32", assets });
      const policy = await openPolicy(out);
      const { tokens, logprobs } = JSON.parse(
        readFileSync(fixture(`adapters/${name}/expected.json`), "utf8"),
      ) as { tokens: number[]; logprobs: number[] };
      const trainer = new PolicyTrainer(policy, { memoryMiB: 100 });
      const [ours] = await trainer.forward([rowOf(Int32Array.from(tokens), 1)]);
      for (const [i, theirs] of logprobs.entries())
        expect(Math.abs(ours![i + 1]! - theirs)).toBeLessThan(1e-4);
    },
  );

  it.each([
    [{ peft_type: "IA3" }, /type "IA3" is not supported; supported: "LORA"/],
    [{ use_dora: true }, /"use_dora": true is not supported/],
    [{ bias: "all" }, /"bias": "all" is not supported/],
    [{ modules_to_save: ["lm_head"] }, /"modules_to_save": \["lm_head"\] is not supported/],
    [{ lora_alpha: null }, /"lora_alpha" is null/],
  ])("with %j are refused", async (change, message) => {
    const original = fixture("adapters/all-layers");
    const changed = await mkdtemp(join(folder, "adapter-"));
    const config = JSON.parse(
      readFileSync(join(original, "adapter_config.json"), "utf8"),
    ) as object;
    writeFileSync(join(changed, "adapter_config.json"), JSON.stringify({ ...config, ...change }));
    copyFileSync(
      join(original, "adapter_model.safetensors"),
      join(changed, "adapter_model.safetensors"),
    );
    await expect(readLoraAdapter(changed)).rejects.toThrow(message);
  });

  it("of another model are refused", async () => {
    const adapter = await readLoraAdapter(fixture("adapters/all-layers"));
    const base = await openModelSource(fixture("parity/qwen3"));
    expect(() => mergeAdapter(base, adapter)).toThrow(/changes "model.layers.0.*\[16,32\], but/);
  });
});
