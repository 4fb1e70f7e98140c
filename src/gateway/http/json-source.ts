/**
 * The text of values in a body, where JavaScript's values lose something of it: 1.0, 1e-07, integers above 2^53,
 * the order of keys that look like numbers. Read only for the fields that ask for it.
 */
import { parseExact, writeExact, type ExactJson } from "../../util/exact-json.ts";
import { isJsonObject, type JsonFields } from "../../util/json-object.ts";
import { RawJson } from "../../util/raw-json.ts";

/** Fields of bodies whose values lose something, with their text. */
const fieldTexts = new WeakMap<JsonFields, ReadonlyMap<string, string>>();
/** Objects and lists whose text is known. */
const sources = new WeakMap<object, ExactJson>();

/** `texts`: as `checkStructure` finds them. */
export function keepTexts(body: JsonFields, texts: ReadonlyMap<string, string>): void {
  if (texts.size > 0) fieldTexts.set(body, texts);
}

function pair(value: unknown, exact: ExactJson): void {
  if (Array.isArray(value) && Array.isArray(exact)) {
    sources.set(value, exact);
    for (const [i, item] of value.entries()) pair(item, exact[i] as ExactJson);
  } else if (isJsonObject(value) && exact instanceof Map) {
    sources.set(value, exact);
    for (const [name, field] of exact as ReadonlyMap<string, ExactJson>) pair(value[name], field);
  }
}

/** Makes the text of what is in these fields known. */
export function readSources(body: JsonFields, ...names: readonly string[]): void {
  const texts = fieldTexts.get(body);
  for (const name of texts === undefined ? [] : names) {
    const text = texts!.get(name);
    if (text !== undefined) pair(body[name], parseExact(text));
  }
}

/** `JSON.parse`, which makes the text of objects and lists known. @throws SyntaxError */
export function parseWithSources(text: string): unknown {
  const value: unknown = JSON.parse(text);
  pair(value, parseExact(text));
  return value;
}

/** JSON of a value from a body where `JSON.stringify` would lose something; undefined where it would not. */
export function lostText(value: object): string | undefined {
  const source = sources.get(value);
  if (source === undefined) return undefined;
  const text = writeExact(source);
  return text === JSON.stringify(value) ? undefined : text;
}

export const jsonText = (value: object): string => lostText(value) ?? JSON.stringify(value);

/** A value from a body as it is to be written. */
export function asWritten(value: unknown): unknown {
  const text = typeof value === "object" && value !== null ? lostText(value) : undefined;
  return text === undefined ? value : new RawJson(text);
}

/** The same for one that was put together from such values. */
export function exactly(value: unknown): unknown {
  const written = asWritten(value);
  if (typeof written !== "object" || written === null || written instanceof RawJson) return written;
  if (Array.isArray(value)) return value.map(exactly);
  return Object.fromEntries(Object.entries(written).map(([name, field]) => [name, exactly(field)]));
}
