/** The formats that the matrices of a GGUF file are written in. */
import { encodeNumbers, formatFacts, numberFormats, type NumberFormat } from "../number-format.ts";
import { encodeQ8, q8Block } from "./encode-q8.ts";

export type GgufFormat = NumberFormat | "q8_0";
export const ggufFormats: readonly GgufFormat[] = [...numberFormats, "q8_0"];

/** ggml's number of a tensor type, and of a file of mostly that type. */
export const typeNumbers: Readonly<Record<GgufFormat, { tensor: number; file: number }>> = {
  f32: { tensor: 0, file: 0 },
  f16: { tensor: 1, file: 1 },
  bf16: { tensor: 30, file: 32 },
  q8_0: { tensor: 8, file: 7 },
};

/** Vectors are few, and llama.cpp computes with them in 32 bits; a block of Q8_0 must end with its row. */
export function tensorFormat(shape: readonly number[], format: GgufFormat): GgufFormat {
  if (shape.length === 1) return "f32";
  return format === "q8_0" && shape.at(-1)! % q8Block.elements !== 0 ? "f16" : format;
}

export function tensorBytes(shape: readonly number[], format: GgufFormat): number {
  const elements = shape.reduce((product, dim) => product * dim, 1);
  return format === "q8_0"
    ? (elements / q8Block.elements) * q8Block.bytes
    : elements * formatFacts[format].bytes;
}

export function encodeTensor(
  data: Float32Array,
  shape: readonly number[],
  format: GgufFormat,
): Uint8Array {
  return format === "q8_0" ? encodeQ8(data, shape.at(-1)!) : encodeNumbers(data, format);
}
