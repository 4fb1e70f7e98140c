/**
 * GGUF files against the programs that define the format: blocks as ggml's Python package decodes
 * them, models as llama.cpp's converter writes them; fixtures by `scripts/fixtures/make_gguf.py`.
 */
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ggmlTypes } from "../../src/engine/checkpoint/gguf/ggml-types.ts";
import {
  fromBfloat16,
  fromHalf,
  toBfloat16,
  toHalf,
} from "../../src/engine/checkpoint/half-floats.ts";
import { openModelSource } from "../../src/engine/checkpoint/open-model-source.ts";
import type { ModelSource } from "../../src/engine/checkpoint/model-source.ts";
import { parseModelConfig } from "../../src/engine/model/parse-config.ts";
import { openPolicy } from "./open-policy.ts";
import { PolicyTrainer } from "../../src/engine/training/trainer.ts";
import { rowOf } from "./small-model.ts";

const fixture = (path: string): string =>
  fileURLToPath(new URL(`../fixtures/${path}`, import.meta.url));

const bytesOf = (data: Float32Array): Buffer =>
  Buffer.from(data.buffer, data.byteOffset, data.byteLength);

describe("blocks", () => {
  const expected = JSON.parse(readFileSync(fixture("gguf/blocks.json"), "utf8")) as Record<
    string,
    { bytes: string; values: string }
  >;

  it.each([...ggmlTypes.values()].map((type) => [type.name, type] as const))(
    "of type %s are decoded to the bit",
    (name, type) => {
      const raw = Buffer.from(expected[name]!.bytes, "base64");
      const values = Buffer.from(expected[name]!.values, "base64");
      const out = new Float32Array((raw.length / type.bytes) * type.elements);
      type.decode(raw, out);
      expect(out.length).toBe(values.length / 4);
      expect(bytesOf(out).equals(values)).toBe(true);
    },
  );
});

async function readAll(source: ModelSource): Promise<Map<string, Float32Array>> {
  const all = new Map<string, Float32Array>();
  for await (const [name, data] of source.read([...source.tensors.keys()])) all.set(name, data);
  return all;
}

/** What is left of `data` in a file of this type, as a bound on the error of each element. */
const roundTrips: Readonly<Record<string, (data: Float32Array) => Float32Array>> = {
  F32: (data) => data,
  F16: (data) => fromHalf(toHalf(data)),
  BF16: (data) => fromBfloat16(toBfloat16(data)),
};

describe("models that llama.cpp converted", () => {
  it.each([
    ["llama-tied", "F16"],
    ["llama-untied-sharded", "Q8_0"],
    ["llama-3-rope", "F32"],
    ["qwen2", "BF16"],
    ["qwen3", "F16"],
  ])("%s in %s has the weights and the shape of the original", async (name, type) => {
    const original = await openModelSource(fixture(`parity/${name}`));
    const converted = await openModelSource(fixture(`gguf/${name}.gguf`));
    expect([...converted.tensors.keys()].toSorted()).toEqual(
      [...original.tensors.keys()].toSorted(),
    );
    const types = new Set(Array.from(converted.tensors.values(), (tensor) => tensor.type));
    expect(types).toContain(type);

    const weights = await readAll(converted);
    for (const [tensor, data] of await readAll(original)) {
      const { type: stored, shape } = converted.tensors.get(tensor)!;
      expect(shape).toEqual(original.tensors.get(tensor)!.shape);
      const ours = weights.get(tensor)!;
      const kept = roundTrips[stored];
      if (kept !== undefined) expect(bytesOf(ours).equals(bytesOf(kept(data))), tensor).toBe(true);
      else {
        // Eight bits around the largest value of a block, and a scale of half precision.
        const bound = Math.max(...data.map(Math.abs)) / 250;
        for (const [i, value] of data.entries())
          expect(Math.abs(ours[i]! - value), tensor).toBeLessThan(bound);
      }
    }

    const { layerKinds, ...shape } = parseModelConfig(converted.config, "gguf");
    const { layerKinds: expected, ...expectedShape } = parseModelConfig(original.config, "hub");
    expect(shape).toEqual(expectedShape);
    for (const [layer, { rope, window }] of expected.entries()) {
      expect(layerKinds[layer]!.window).toBe(window);
      for (const [i, frequency] of rope!.frequencies.entries())
        expect(Math.abs(layerKinds[layer]!.rope!.frequencies[i]! / frequency - 1)).toBeLessThan(
          1e-4,
        );
    }
  });

  it.each([null, { rank: 2, alpha: 4 }])(
    "compute what transformers computes (LoRA %j)",
    async (lora) => {
      const { tokens, logprobs } = JSON.parse(
        readFileSync(fixture("parity/llama-3-rope/expected.json"), "utf8"),
      ) as { tokens: number[]; logprobs: number[] };
      const policy = await openPolicy(fixture("gguf/llama-3-rope.gguf"), lora);
      const trainer = new PolicyTrainer(policy, { memoryMiB: 100 });
      const [ours] = await trainer.forward([rowOf(Int32Array.from(tokens), 1)]);
      for (const [i, theirs] of logprobs.entries())
        expect(Math.abs(ours![i + 1]! - theirs)).toBeLessThan(1e-4);
    },
  );
});

describe("files that cannot be used", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "gguf-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** The Llama fixture with one change. */
  async function changed(change: (bytes: Buffer) => Buffer): Promise<string> {
    const file = join(folder, "changed.gguf");
    await writeFile(file, change(await readFile(fixture("gguf/llama-3-rope.gguf"))));
    return file;
  }
  /** Writes `value` so many bytes after the end of the first occurrence of `text`. */
  const patch =
    (text: string, after: number, value: number) =>
    (bytes: Buffer): Buffer => {
      bytes.writeUInt32LE(value, bytes.indexOf(text) + text.length + after);
      return bytes;
    };
  const rename = (from: string, to: string) => (bytes: Buffer) => {
    bytes.write(to, bytes.indexOf(from));
    return bytes;
  };

  // A tensor's name is followed by its rank (4 bytes), its dimensions (8 each), then its type.
  it.each([
    ["other content", () => Buffer.from("no such thing"), /not starting with GGUF/],
    ["a file cut short", (bytes: Buffer) => bytes.subarray(0, bytes.length - 40), /does not fit/],
    [
      "a type by its name",
      patch("blk.0.ffn_up.weight", 20, 10),
      /ffn_up.weight" has type Q2_K; supported: F32, .*Q6_K/,
    ],
    ["a type that has none", patch("blk.0.ffn_up.weight", 20, 77), /type number 77/],
    [
      "an architecture",
      rename("llama", "gemma"),
      /architecture "gemma" is not supported; supported: llama, qwen2, qwen3/,
    ],
    [
      "a tensor that the architecture lacks",
      rename("blk.0.ffn_up", "blk.0.ffn_xy"),
      /"blk.0.ffn_xy.weight" is not one/,
    ],
    [
      "other rope factors",
      (bytes: Buffer) => {
        bytes.writeFloatLE(3, bytes.indexOf(Buffer.from(Float32Array.of(8).buffer), 1800));
        return bytes;
      },
      /Llama 3's rope scaling/,
    ],
  ])("refuses %s", async (_, change, message) => {
    const opening = openModelSource(await changed(change));
    await expect(opening).rejects.toThrow(message);
    await expect(opening).rejects.toMatchObject({ code: "MODEL_INVALID" });
  });

  it("refuses a file that does not exist", async () => {
    await expect(openModelSource(join(folder, "none.gguf"))).rejects.toMatchObject({
      code: "MODEL_INVALID",
    });
  });
});
