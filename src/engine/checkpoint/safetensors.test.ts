import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeSafetensors, readHeader, readSafetensors } from "./safetensors.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "safetensors-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** A file with one tensor of these raw bytes. */
async function raw(
  dtype: string,
  bytes: readonly number[],
  shape: readonly number[],
): Promise<string> {
  const header = JSON.stringify({ t: { dtype, shape, data_offsets: [0, bytes.length] } });
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(header.length));
  const file = join(folder, `${dtype}-${bytes.join("-")}.safetensors`);
  await writeFile(file, Buffer.concat([prefix, Buffer.from(header), Buffer.from(bytes)]));
  return file;
}

describe("safetensors", () => {
  it("reads back what it wrote, to the bit", async () => {
    const file = join(folder, "a.safetensors");
    const data = Float32Array.of(0.1, -0, 1e-40, 3.4e38, NaN, -Infinity);
    await writeFile(
      file,
      encodeSafetensors(new Map([["w", { shape: [2, 3], data }]]), { note: "x" }),
    );
    const tensors = await readSafetensors(file);
    expect(tensors.get("w")!.shape).toEqual([2, 3]);
    expect(Buffer.from(tensors.get("w")!.data.buffer)).toEqual(Buffer.from(data.buffer));
    expect([...(await readHeader(file)).keys()]).toEqual(["w"]);
    expect((await readHeader(file)).get("w")!.offset % 8).toBe(0);
  });

  // Bit patterns of IEEE 754 half precision: 1, -2, 65504 (largest), 2^-24 (smallest), infinity.
  it("reads half precision", async () => {
    const file = await raw(
      "F16",
      [0x00, 0x3c, 0x00, 0xc0, 0xff, 0x7b, 0x01, 0x00, 0x00, 0x7c],
      [5],
    );
    expect([...(await readSafetensors(file)).get("t")!.data]).toEqual([
      1,
      -2,
      65504,
      2 ** -24,
      Infinity,
    ]);
  });

  it("reads bfloat16", async () => {
    const file = await raw("BF16", [0x80, 0x3f, 0x20, 0xc1], [2]);
    expect([...(await readSafetensors(file)).get("t")!.data]).toEqual([1, -10]);
  });

  it.each([
    ["a type it cannot read", "I8", [1, 2], [2], /type I8/],
    ["a shape that does not fit its bytes", "F32", [0, 0, 0, 0], [2], /does not fit/],
  ])("refuses %s", async (_, dtype, bytes, shape, message) => {
    await expect(readSafetensors(await raw(dtype, bytes, shape))).rejects.toThrow(message);
  });

  it("refuses a file that was cut short", async () => {
    const whole = encodeSafetensors(new Map([["w", { shape: [4], data: new Float32Array(4) }]]));
    const file = join(folder, "cut.safetensors");
    for (const length of [3, 20, whole.length - 1]) {
      await writeFile(file, whole.subarray(0, length));
      await expect(readSafetensors(file)).rejects.toMatchObject({ code: "MODEL_INVALID" });
    }
    expect((await readFile(file)).length).toBe(whole.length - 1);
  });
});
