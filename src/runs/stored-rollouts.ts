/**
 * Rollouts that a checkpoint holds, as lines of JSON: typed arrays as base64 of their bytes, so that
 * what is read equals what was written, bit by bit.
 */
import type { TaskRollouts } from "../rollouts/task-rollouts.ts";

const kinds = { i32: Int32Array, f32: Float32Array } as const;
type Kind = keyof typeof kinds;

/** Numbers that JSON cannot represent. */
const oddNumbers: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity,
  "-Infinity": -Infinity,
};

const marker = "$array";
const oddMarker = "$number";

function pack(_key: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) return { [oddMarker]: String(value) };
  if (!(value instanceof Int32Array) && !(value instanceof Float32Array)) return value;
  const kind: Kind = value instanceof Int32Array ? "i32" : "f32";
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return { [marker]: kind, data: bytes.toString("base64") };
}

function unpack(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const { [marker]: kind, [oddMarker]: odd, data } = value as Readonly<Record<string, unknown>>;
  if (typeof odd === "string" && odd in oddNumbers) return oddNumbers[odd];
  if ((kind !== "i32" && kind !== "f32") || typeof data !== "string") return value;
  const bytes = Uint8Array.from(Buffer.from(data, "base64"));
  return new kinds[kind](bytes.buffer);
}

/** One line per group, in order. */
export const packRollouts = (rollouts: readonly TaskRollouts[]): string =>
  rollouts.map((one) => `${JSON.stringify(one, pack)}\n`).join("");

export function unpackRollouts(text: string): readonly TaskRollouts[] {
  return text.split("\n").flatMap((line) => {
    if (line === "") return [];
    const { list, ...one } = JSON.parse(line, unpack) as TaskRollouts & { readonly list?: string };
    // Earlier versions also kept what had been trained on, to train on it again.
    return list === "replay" ? [] : [one];
  });
}
