/**
 * Values of JSON as records have them, which are also written as text: answers and arguments. Their text keeps the
 * digits of numbers and the order of keys.
 */
import { type ExactJson, JsonNumber, parseExact, writeExact } from "../../util/exact-json.ts";

const written = new WeakMap<object, ExactJson>();

/** What JavaScript's values would lose: 1.0, 1e-7, long integers, keys that look like numbers. */
const lossy = /\d\.\d*0(?!\d)|\d[eE][-+\d]|\d{16}|"\d+"\s*:/u;

function remembered(value: ExactJson): unknown {
  if (value instanceof JsonNumber) return value.value;
  if (typeof value !== "object" || value === null) return value;
  const plain: object =
    value instanceof Map
      ? Object.fromEntries(
          [...(value as ReadonlyMap<string, ExactJson>)].map(([key, own]) => [
            key,
            remembered(own),
          ]),
        )
      : (value as readonly ExactJson[]).map(remembered);
  written.set(plain, value);
  return plain;
}

/** @throws SyntaxError for what is not JSON */
export function parseValue(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || !lossy.test(text)) return value;
  return remembered(parseExact(text));
}

/** A value as JSON: where it was parsed from a text, as it was written there, without white space. */
export function valueText(value: unknown): string {
  const exact = typeof value === "object" && value !== null ? written.get(value) : undefined;
  return exact === undefined ? (JSON.stringify(value) ?? "") : writeExact(exact);
}
