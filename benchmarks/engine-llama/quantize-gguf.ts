/** A GGUF file that we wrote in 16 bits, once more with its matrices as Q8_0, as llama.cpp's users have it. */
import { open } from "node:fs/promises";
import { openGguf } from "../../src/engine/checkpoint/gguf/gguf-file.ts";
import {
  ggufHeader,
  type GgufTensorEntry,
  type GgufValue,
} from "../../src/engine/checkpoint/gguf/gguf-writer.ts";
import { encodeNumbers } from "../../src/engine/checkpoint/number-format.ts";
import { toHalf } from "../../src/engine/checkpoint/half-floats.ts";

/** ggml's number of the type, and its blocks: a scale in half precision and signed bytes. */
const q80 = { type: 8, numbers: 32, bytes: 34 } as const;
const f32 = 0;

/** Scales are the largest magnitude of a block by 127. Its length is a multiple of 32. */
export function encodeQ80(values: Float32Array): Uint8Array {
  const blocks = values.length / q80.numbers;
  const out = new Int8Array(blocks * q80.bytes);
  const view = new DataView(out.buffer);
  const scales = Float32Array.from({ length: blocks }, (_, block) => {
    let peak = 0;
    for (let i = 0; i < q80.numbers; i++)
      peak = Math.max(peak, Math.abs(values[block * q80.numbers + i]!));
    return peak / 127;
  });
  for (const [block, half] of toHalf(scales).entries()) {
    const scale = scales[block]!;
    view.setUint16(block * q80.bytes, half, true);
    if (scale === 0) continue;
    for (let i = 0; i < q80.numbers; i++)
      out[block * q80.bytes + 2 + i] = Math.round(values[block * q80.numbers + i]! / scale);
  }
  return new Uint8Array(out.buffer);
}

interface Typed {
  readonly value: unknown;
  readonly type: number;
}
interface Library {
  gguf(
    path: string,
    options: { readonly allowLocalFile: true; readonly typedMetadata: true },
  ): Promise<{ readonly typedMetadata: Readonly<Record<string, Typed>> }>;
}
const types = { uint32: 4, float32: 6, array: 9 } as const;

/** What the header's writer takes; only kinds that it writes are in our files. */
function valueOf({ value, type }: Typed): GgufValue {
  if (type === types.uint32) return { uint32: Number(value) };
  if (type === types.float32) return { float32: Number(value) };
  if (type !== types.array) return value as string | boolean;
  const items = value as readonly (string | number)[];
  return typeof items[0] === "number" ? Int32Array.from(items as number[]) : (items as string[]);
}

export async function quantizeGguf(from: string, to: string): Promise<void> {
  const library = (await import("@huggingface/gguf")) as unknown as Library;
  const { typedMetadata } = await library.gguf(from, { allowLocalFile: true, typedMetadata: true });
  const { tensors } = await openGguf(from);
  const entries: GgufTensorEntry[] = [...tensors].map(([name, { shape }]) => {
    const elements = shape.reduce((product, dim) => product * dim, 1);
    return shape.length === 1
      ? { name, type: f32, shape, bytes: 4 * elements }
      : { name, type: q80.type, shape, bytes: (elements / q80.numbers) * q80.bytes };
  });
  const values = Object.entries(typedMetadata)
    // The header's own fields, which the reader lists too.
    .filter(([key]) => key.includes("."))
    .map(([key, value]) => [key, valueOf(value)] as const);
  const header = ggufHeader(new Map(values), entries);
  const source = await open(from, "r");
  const target = await open(to, "w");
  try {
    await target.truncate(header.size);
    await target.write(header.bytes, 0, header.bytes.length, 0);
    for (const [name, { type, offset, length, shape }] of tensors) {
      const bytes = new Uint8Array(length);
      await source.read(bytes, 0, length, offset);
      const floats = new Float32Array((length / type.bytes) * type.elements);
      type.decode(bytes, floats);
      const out = shape.length === 1 ? encodeNumbers(floats, "f32") : encodeQ80(floats);
      await target.write(out, 0, out.length, header.offsets.get(name));
    }
  } finally {
    await Promise.all([source.close(), target.close()]);
  }
}
