/** Reading what a server wrote, leniently: what has another type than expected counts as absent. */
import { isJsonObject, type JsonFields } from "../../../../util/json-object.ts";

export function numberIn(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

export function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function objectIn(value: unknown): JsonFields {
  return isJsonObject(value) ? value : {};
}

export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Undefined unless it is a list of token ids. */
export function idsIn(value: unknown): ArrayLike<number> | undefined {
  if (value instanceof Int32Array) return value;
  if (!Array.isArray(value)) return undefined;
  return value.every((id) => Number.isInteger(id)) ? (value as number[]) : undefined;
}

/** vLLM writes this where it has no value. */
const noLogprob = -9999;

export function logprobIn(value: unknown): number | null {
  return typeof value === "number" && value > noLogprob ? value : null;
}
