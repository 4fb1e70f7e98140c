/**
 * Parts of a model with an adapter in GGUF: the adapter as llama.cpp's converter writes it, the base as it was
 * trained; and Q8_0, whose bytes gguf-export.long.test.ts compares with the converter's.
 */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { runCli } from "../../src/cli/program.ts";
import { exportGguf } from "../../src/engine/checkpoint/gguf/export-gguf.ts";
import { exportGgufAdapter } from "../../src/engine/checkpoint/gguf/export-gguf-adapter.ts";
import { encodeQ8, type GgufFormat } from "../../src/engine/checkpoint/gguf/gguf-format.ts";
import { ggmlTypes } from "../../src/engine/checkpoint/gguf/ggml-types.ts";
import { openGguf } from "../../src/engine/checkpoint/gguf/gguf-file.ts";
import { int8Source } from "../../src/engine/checkpoint/int8-source.ts";
import { mergeAdapter, readLoraAdapter } from "../../src/engine/checkpoint/lora-adapter.ts";
import { writeQuantization } from "../../src/engine/checkpoint/quantization-file.ts";
import { openModelSource } from "../../src/engine/checkpoint/open-model-source.ts";
import type { ModelSource } from "../../src/engine/checkpoint/model-source.ts";
import { isAdapted } from "../../src/engine/model/parameters.ts";
import { createRandom } from "../../src/util/random.ts";

const fixture = (path: string): string =>
  fileURLToPath(new URL(`../fixtures/${path}`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "gguf-parts-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function cli(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ["", ""];
  const code = await runCli(args, {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
  });
  return { code, out, err };
}

/** Tensors of a GGUF file, in its own order of rows. */
async function tensorsOf(path: string): Promise<Map<string, Float32Array>> {
  const bytes = await readFile(path);
  const { tensors } = await openGguf(path);
  return new Map(
    Array.from(tensors, ([name, { type, offset, length }]) => {
      const out = new Float32Array((length / type.bytes) * type.elements);
      type.decode(bytes.subarray(offset, offset + length), out);
      return [name, out] as const;
    }),
  );
}

async function readAll(source: ModelSource): Promise<Map<string, Float32Array>> {
  const all = new Map<string, Float32Array>();
  for await (const [name, data] of source.read([...source.tensors.keys()])) all.set(name, data);
  return all;
}

const baseFolder = fixture("parity/llama-tied");
const names = ["all-layers", "rank-stabilised", "patterns"] as const;

async function exportAdapter(name: string): Promise<string> {
  const adapter = await readLoraAdapter(fixture(`adapters/${name}`));
  const file = join(mkdtempSync(join(folder, "adapter-")), `${name}.gguf`);
  const base = await openModelSource(baseFolder);
  await exportGgufAdapter(adapter, base, file, { format: "f32", name });
  return file;
}

async function exportModel(source: ModelSource, format: GgufFormat): Promise<string> {
  const file = join(mkdtempSync(join(folder, "model-")), "model.gguf");
  await exportGguf(source, file, { format, name: "model", tokenizer: new Map() });
  return file;
}

describe("an adapter", () => {
  it.each(names.slice(0, 2))("%s has the factors that the converter writes", async (name) => {
    const [ours, theirs] = [await exportAdapter(name), fixture(`gguf/adapter-${name}.gguf`)];
    const [mine, expected] = [await tensorsOf(ours), await tensorsOf(theirs)];
    expect([...mine.keys()].toSorted()).toEqual([...expected.keys()].toSorted());
    for (const [tensor, data] of expected) expect(mine.get(tensor), tensor).toEqual(data);
    const [own, other] = [(await openGguf(ours)).metadata, (await openGguf(theirs)).metadata];
    for (const key of ["general.architecture", "general.type", "adapter.type"])
      expect(own[key], key).toBe(other[key]);
    // The converter ignores rank stabilization.
    if (name === "all-layers") expect(own["adapter.lora.alpha"]).toBe(other["adapter.lora.alpha"]);
  });

  it.each(names)(
    "%s, added to its base by llama.cpp's formula, is the merged model",
    async (name) => {
      const adapter = await readLoraAdapter(fixture(`adapters/${name}`));
      const source = await openModelSource(baseFolder);
      const base = await tensorsOf(await exportModel(source, "f32"));
      const merged = await tensorsOf(await exportModel(mergeAdapter(source, adapter), "f32"));
      const file = await exportAdapter(name);
      const factors = await tensorsOf(file);
      const alpha = Number((await openGguf(file)).metadata["adapter.lora.alpha"]);
      const weights = [...factors.keys()].flatMap(
        (tensor) => /^(.+)\.lora_a$/u.exec(tensor)?.[1] ?? [],
      );
      expect(weights.length).toBe(adapter.factors.size);
      for (const weight of weights) {
        const [before, after] = [base.get(weight)!, merged.get(weight)!];
        const [a, b] = [factors.get(`${weight}.lora_a`)!, factors.get(`${weight}.lora_b`)!];
        const rank = Math.sqrt((a.length * b.length) / before.length);
        const columns = a.length / rank;
        let largest = 0;
        for (const [i, value] of before.entries()) {
          const [row, column] = [Math.floor(i / columns), i % columns];
          let update = 0;
          for (let k = 0; k < rank; k++) update += b[row * rank + k]! * a[k * columns + column]!;
          largest = Math.max(largest, Math.abs(value + (alpha / rank) * update - after[i]!));
        }
        expect(largest, weight).toBeLessThan(1e-6);
      }
    },
  );

  it("is written by `model export --part adapter`", async () => {
    const into = join(folder, "from-cli.gguf");
    const args = ["--format", "gguf", "--part", "adapter", "--into", into, "--base", baseFolder];
    const printed = await cli("model", "export", fixture("adapters/all-layers"), ...args, "--json");
    expect(printed.code).toBe(0);
    expect(JSON.parse(printed.out)).toMatchObject({ path: into, part: "adapter", dtype: "f32" });
    expect(await tensorsOf(into)).toEqual(await tensorsOf(await exportAdapter("all-layers")));
  });
});

describe("a base in 8-bit integers", () => {
  it("keeps its integers in Q8_0, and changes scales by half precision only", async () => {
    const source = int8Source(await openModelSource(fixture("parity/llama-untied-sharded")));
    const file = await openModelSource(await exportModel(source, "q8_0"));
    const [trained, written] = [await readAll(source), await readAll(file)];
    let compared = 0;
    for (const [name, data] of trained) {
      if (!isAdapted(name)) continue;
      const columns = file.tensors.get(name)!.shape[1]!;
      // Rows that are not whole blocks are in 16 bits, as the converter has them.
      expect(file.tensors.get(name)!.type).toBe(columns % 32 === 0 ? "Q8_0" : "F16");
      if (columns % 32 !== 0) continue;
      for (let row = 0; row < data.length; row += columns) {
        const one = data.subarray(row, row + columns);
        const step = Math.max(...one.map(Math.abs)) / 127;
        const other = written.get(name)!.subarray(row, row + columns);
        const step16 = Math.max(...other.map(Math.abs)) / 127;
        expect(Math.abs(step16 / step - 1)).toBeLessThan(2 ** -11);
        const integers = [...one].map((value) => Math.round(value / step));
        const kept = [...other].map((value) => Math.round(value / step16));
        expect(kept.every((value, i) => value === integers[i])).toBe(true);
        compared += columns;
      }
    }
    expect(compared).toBeGreaterThan(10_000);
  });

  it("is written by `model export --part base` as it was trained", async () => {
    const adapter = join(folder, "int8-adapter");
    cpSync(fixture("adapters/all-layers"), adapter, { recursive: true });
    await writeQuantization(adapter, "int8");
    const into = join(folder, "int8-base");
    const args = ["--format", "hf", "--part", "base", "--dtype", "f32", "--into", into];
    const { code, err } = await cli("model", "export", adapter, ...args, "--base", baseFolder);
    expect(err).not.toContain("rror");
    expect(code).toBe(0);
    const plain = await openModelSource(baseFolder);
    const written = await readAll(await openModelSource(into));
    expect(written).toEqual(await readAll(int8Source(plain)));
    expect(written).not.toEqual(await readAll(plain));
  });

  it("has steps of its own in each block elsewhere", () => {
    const random = createRandom(3);
    const row = Float32Array.from({ length: 64 }, (_, i) => (i < 32 ? 1 : 0.01) * (random() - 0.5));
    const out = new Float32Array(64);
    ggmlTypes.get(8)!.decode(encodeQ8(row, 64), out);
    const error = (from: number): number =>
      Math.max(
        ...out.subarray(from, from + 32).map((value, i) => Math.abs(value - row[from + i]!)),
      );
    expect(error(0)).toBeLessThan(0.5 / 127);
    expect(error(32)).toBeLessThan(0.005 / 127);
    expect(encodeQ8(new Float32Array(32), 32)).toEqual(new Uint8Array(34));
  });
});

describe("refused, by name", () => {
  const adapter = ["model", "export", fixture("adapters/all-layers"), "--base", baseFolder];
  it.each([
    [
      [...adapter, "--format", "hf", "--dtype", "q8_0"],
      /--dtype q8_0 is a format of whole models in GGUF, not of a folder/,
    ],
    [[...adapter, "--format", "gguf", "--part", "adapter", "--dtype", "q8_0"], /not of an adapter/],
    [[...adapter, "--format", "hf", "--part", "adapter"], /is in Hugging Face's format already/],
    [
      ["model", "export", baseFolder, "--format", "gguf", "--part", "base"],
      /has no adapter, so --part base/,
    ],
  ])("%#", async (args, message) => {
    const { code, err } = await cli(...args, "--into", join(folder, "never"));
    expect(code).toBe(2);
    expect(err).toMatch(message);
  });
});
