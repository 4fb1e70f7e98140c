import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createRandom } from "../../util/random.ts";
import { openModelSource } from "../checkpoint/open-model-source.ts";
import { fromBfloat16, fromHalf } from "../checkpoint/half-floats.ts";
import { safetensorsHeader, type StoredType } from "../checkpoint/safetensors.ts";
import { Device } from "../tensor/device.ts";
import { rowsOfSource, rowsOfValues, type WeightRows } from "./weight-rows.ts";

/** More than is read at once, and a row that alone is more. */
const shapes: readonly (readonly [string, readonly number[]])[] = [
  ["large", [3000, 700]],
  ["vector", [77]],
  ["wide", [2, 2_200_000]],
];
const device = new Device({ threads: 1 });
const root = await mkdtemp(join(tmpdir(), "weight-rows-"));
afterAll(() => rm(root, { recursive: true }));

async function collect(
  pieces: AsyncIterable<WeightRows>,
): Promise<{ readonly values: Map<string, Float32Array>; readonly count: number }> {
  const values = new Map<string, Float32Array>();
  let count = 0;
  for await (const { name, first, rows } of pieces) {
    count += 1;
    const shape = shapes.find(([other]) => other === name)![1];
    const all = values.get(name) ?? new Float32Array(shape.reduce((n, dim) => n * dim, 1));
    const own = rows.type === "bf16" ? fromBfloat16(rows.data) : rows.data;
    all.set(own, first * rows.columns);
    values.set(name, all);
  }
  return { values, count };
}

/** Bit for bit. */
function expectSame(
  found: ReadonlyMap<string, Float32Array>,
  expected: ReadonlyMap<string, Float32Array>,
): void {
  for (const [name, { buffer }] of expected)
    expect(Buffer.from(found.get(name)!.buffer).equals(Buffer.from(buffer)), name).toBe(true);
}

describe("rows of weights", () => {
  it.each(["F32", "BF16", "F16"] as const)("are those of a file of %s", async (dtype) => {
    const random = createRandom(1);
    const bits = shapes.map(([, shape]) =>
      Uint16Array.from(
        { length: shape.reduce((n, dim) => n * dim, 1) },
        // Numbers from about 0.01 to 1 in either format.
        () => 0x3000 + Math.floor(0xbff * random()),
      ),
    );
    const stored = bits.map((own): Float32Array | Uint16Array =>
      dtype === "F32" ? Float32Array.from(own) : own,
    );
    const widened = (own: Uint16Array, i: number): Float32Array => {
      if (dtype === "F32") return stored[i] as Float32Array;
      return dtype === "BF16" ? fromBfloat16(own) : fromHalf(own);
    };
    const expected = new Map(shapes.map(([name], i) => [name, widened(bits[i]!, i)]));
    const folder = await writeFolder(dtype, stored);
    const source = await openModelSource(folder);
    const { values, count } = await collect(
      rowsOfSource(device, source, ["vector", "wide", "large"]),
    );
    expect(count).toBeGreaterThan(4);
    expectSame(values, expected);
  });

  it("are those of values in memory", async () => {
    const random = createRandom(2);
    const given = new Map(
      shapes.map(([name, shape]) => [
        name,
        Float32Array.from({ length: shape.reduce((n, dim) => n * dim, 1) }, random),
      ]),
    );
    const { values, count } = await collect(rowsOfValues(device, given, new Map(shapes)));
    expect(count).toBeGreaterThan(4);
    expectSame(values, given);
  });
});

async function writeFolder(
  dtype: StoredType,
  stored: readonly (Float32Array | Uint16Array)[],
): Promise<string> {
  const { bytes } = safetensorsHeader(shapes.map(([name, shape]) => ({ name, dtype, shape })));
  const folder = join(root, dtype);
  await mkdir(folder);
  const raw = stored.map(({ buffer }) => new Uint8Array(buffer as ArrayBuffer));
  await writeFile(join(folder, "model.safetensors"), Buffer.concat([bytes, ...raw]));
  await writeFile(join(folder, "config.json"), "{}");
  return folder;
}
