/** Values as text: Python's `str()`, `repr()` and `json.dumps()`. */
import { pythonFloat } from "../../../../util/exact-json.ts";
import { compare } from "./compare.ts";
import { fail } from "./errors.ts";
import { checkSize, nested, spend, spendText } from "./limits.ts";
import { empty, Str } from "./str.ts";
import {
  Callable,
  Dict,
  Iter,
  Namespace,
  none,
  Range,
  Tuple,
  typeName,
  Undefined,
  View,
  type Value,
} from "./values.ts";

const short: Readonly<Record<string, string>> = {
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\\": "\\\\",
};

/** What Python does not print in a `repr`. */
const unprintable = /[\\\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

export const isPrintable = (text: string): boolean => text.search(unprintable) === -1;

function escaped(character: string): string {
  const code = character.codePointAt(0)!;
  const [letter, digits] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
  return short[character] ?? `\\${letter}${code.toString(16).padStart(digits, "0")}`;
}

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = text.replaceAll(unprintable, escaped);
  return `${quote}${quote === "'" ? inner.replaceAll("'", "\\'") : inner}${quote}`;
}

function intText(value: bigint): string {
  const text = String(value);
  // Long ones are slow to write.
  spend(text.length);
  return text;
}

export function floatText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  return Number.isFinite(value) ? pythonFloat(value) : value > 0 ? "inf" : "-inf";
}

/** Writes values as one text, which is a message's as soon as one part is. */
class Writer {
  readonly #parts: string[] = [];
  #length = 0;
  #isOwn = true;

  add(text: string): void {
    spend(1);
    this.#length += text.length;
    checkSize(this.#length);
    spendText(text.length);
    this.#parts.push(text);
  }

  str(value: Str, text: string): void {
    if (!value.isOwn) this.#isOwn = false;
    this.add(text);
  }

  list<T>(items: Iterable<T>, separator: string, write: (item: T) => void): void {
    let isFirst = true;
    for (const item of items) {
      if (!isFirst) this.add(separator);
      isFirst = false;
      nested(() => write(item));
    }
  }

  get result(): Str {
    const text = this.#parts.join("");
    return this.#isOwn ? Str.own(text) : Str.foreign(text);
  }
}

function writeRepr(writer: Writer, value: Value): void {
  const all = (items: Iterable<Value>): void =>
    writer.list(items, ", ", (item) => writeRepr(writer, item));
  const pairs = (entries: Iterable<readonly [Value, Value]>): void =>
    writer.list(entries, ", ", ([key, item]) => {
      writeRepr(writer, key);
      writer.add(": ");
      writeRepr(writer, item);
    });
  const between = (start: string, end: string, write: () => void): void => {
    writer.add(start);
    write();
    writer.add(end);
  };
  if (value === none) writer.add("None");
  else if (typeof value === "boolean") writer.add(value ? "True" : "False");
  else if (typeof value === "bigint") writer.add(intText(value));
  else if (typeof value === "number") writer.add(floatText(value));
  else if (value instanceof Str) writer.str(value, quoted(value.text));
  else if (value instanceof Tuple) {
    between("(", value.items.length === 1 ? ",)" : ")", () => all(value.items));
  } else if (value instanceof Dict) between("{", "}", () => pairs(value.entries()));
  else if (value instanceof View) {
    between(`dict_${value.kind}([`, "])", () => all(value.items));
  } else if (value instanceof Range) {
    const { start, stop, step } = value;
    writer.add(`range(${start}, ${stop}${step === 1n ? "" : `, ${step}`})`);
  } else if (value instanceof Namespace) {
    between("<Namespace {", "}>", () =>
      pairs([...value.fields].map(([name, field]) => [Str.own(name), field])),
    );
  } else if (value instanceof Undefined) writer.add("Undefined");
  else if (value instanceof Iter) writer.add(`<generator object ${value.name}>`);
  else if (value instanceof Callable) writer.add(value.text);
  else between("[", "]", () => all(value as readonly Value[]));
}

/** `repr(value)`. */
export function repr(value: Value): Str {
  const writer = new Writer();
  writeRepr(writer, value);
  return writer.result;
}

/** `str(value)`. */
export function str(value: Value): Str {
  if (value instanceof Str) return value;
  return value instanceof Undefined ? empty : repr(value);
}

export interface JsonOptions {
  readonly ascii: boolean;
  /** null: on one line. */
  readonly indent: string | null;
  readonly comma: Str;
  readonly colon: Str;
  readonly sortsKeys: boolean;
}

const asciiEscape = (unit: string): string =>
  `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

function jsonText(text: string, ascii: boolean): string {
  const written = JSON.stringify(text);
  return ascii ? written.replaceAll(/[\u007f-\uffff]/g, asciiEscape) : written;
}

function jsonScalar(value: Value): string | null {
  if (value === none) return "null";
  if (typeof value === "boolean") return String(value);
  if (typeof value === "bigint") return intText(value);
  return typeof value === "number" ? pythonNumberJson(value) : null;
}

function pythonNumberJson(value: number): string {
  return Number.isNaN(value) ? "NaN" : pythonFloat(value);
}

function writeJson(writer: Writer, value: Value, options: JsonOptions, level: number): void {
  const { ascii, indent, comma, colon, sortsKeys } = options;
  const line = (depth: number): string => (indent === null ? "" : `\n${indent.repeat(depth)}`);
  const between = <T>(
    start: string,
    end: string,
    items: readonly T[],
    write: (item: T) => void,
  ) => {
    writer.add(items.length === 0 ? start : start + line(level + 1));
    writer.list(items, comma.text + line(level + 1), write);
    writer.add(items.length === 0 ? end : line(level) + end);
  };
  const scalar = jsonScalar(value);
  if (scalar !== null) writer.add(scalar);
  else if (value instanceof Str) writer.str(value, jsonText(value.text, ascii));
  else if (value instanceof Dict) {
    const entries = [...value.entries()];
    if (sortsKeys) entries.sort(([a], [b]) => compare(a, b));
    between("{", "}", entries, ([key, item]) => {
      const name = key instanceof Str ? key.text : jsonScalar(key);
      if (name === null) {
        const type = typeName(key);
        fail("TypeError", `keys must be str, int, float, bool or None, not ${type}`);
      }
      if (key instanceof Str) writer.str(key, jsonText(key.text, ascii));
      else writer.add(jsonText(name, ascii));
      writer.add(colon.text);
      writeJson(writer, item, options, level + 1);
    });
  } else if (Array.isArray(value) || value instanceof Tuple) {
    const items = value instanceof Tuple ? value.items : (value as readonly Value[]);
    between("[", "]", items, (item) => writeJson(writer, item, options, level + 1));
  } else fail("TypeError", `Object of type ${typeName(value)} is not JSON serializable`);
}

/** `json.dumps(value)`. */
export function json(value: Value, options: JsonOptions): Str {
  const writer = new Writer();
  writeJson(writer, value, options, 0);
  return writer.result;
}
