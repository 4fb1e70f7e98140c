/** The float formats that models are stored in, and how 32-bit floats become their bytes. */
import { toBfloat16, toHalf } from "./half-floats.ts";
import type { StoredType } from "./safetensors.ts";

export const numberFormats = ["f32", "f16", "bf16"] as const;
export type NumberFormat = (typeof numberFormats)[number];

interface FormatFacts {
  readonly stored: StoredType;
  /** As `config.json` names it. */
  readonly torch: string;
  readonly bytes: number;
}

export const formatFacts: Readonly<Record<NumberFormat, FormatFacts>> = {
  f32: { stored: "F32", torch: "float32", bytes: 4 },
  f16: { stored: "F16", torch: "float16", bytes: 2 },
  bf16: { stored: "BF16", torch: "bfloat16", bytes: 2 },
};

/** Rounded to the nearest. Shares the memory of `data` where nothing has to change. */
export function encodeNumbers(data: Float32Array, format: NumberFormat): Uint8Array {
  const numbers = format === "f32" ? data : format === "f16" ? toHalf(data) : toBfloat16(data);
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
