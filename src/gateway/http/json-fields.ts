/**
 * Typed reading of one field of a JSON object, and how much JSON a request may hold. Absent and null are the same,
 * as clients send both. By hand rather than by schema: this runs on every call, over message lists of any size.
 */
import { isJsonObject, type JsonFields } from "../../util/json-object.ts";
import { badRequest, nestedTooDeeply } from "./api-error.ts";

/** A value as an error message shows it. */
export function show(value: unknown): string {
  const short = typeof value === "string" ? value.slice(0, 100) : value;
  const text = JSON.stringify(short) ?? String(short);
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
}

export interface NumberBounds {
  readonly min: number;
  readonly max: number;
  /** `min` itself is not allowed. */
  readonly aboveMin?: boolean;
  readonly integer?: boolean;
}

export function readNumber(
  fields: JsonFields,
  name: string,
  bounds: NumberBounds,
): number | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  const { min, max, aboveMin = false, integer = false } = bounds;
  const fits =
    typeof value === "number" &&
    value <= max &&
    (aboveMin ? value > min : value >= min) &&
    (!integer || Number.isInteger(value));
  if (fits) return value;
  const kind = integer ? "an integer" : "a number";
  const lower = aboveMin ? `above ${min}` : `from ${min}`;
  const isAbove = typeof value === "number" && value > max;
  const upper = max >= Number.MAX_SAFE_INTEGER && !isAbove ? "" : ` to ${max}`;
  throw badRequest(name, `${name} must be ${kind} ${lower}${upper}, but it is ${show(value)}.`);
}

export function readBoolean(fields: JsonFields, name: string): boolean | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === "boolean") return value;
  throw badRequest(name, `${name} must be true or false, but it is ${show(value)}.`);
}

export function readString(
  fields: JsonFields,
  name: string,
  at: string = name,
): string | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  throw badRequest(at, `${at} must be a string, but it is ${show(value)}.`);
}

export function readObject(
  fields: JsonFields,
  name: string,
  at: string = name,
): JsonFields | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (isJsonObject(value)) return value;
  throw badRequest(at, `${at} must be an object, but it is ${show(value)}.`);
}

export function readArray(
  fields: JsonFields,
  name: string,
  at: string = name,
): readonly unknown[] | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  const list = asList(value, at);
  if (list) return list;
  throw badRequest(at, `${at} must be a list, but it is ${show(value)}.`);
}

/** Entries of one list: messages, input items, parts of a content, tools, tool calls. */
export const maxEntries = 10_000;

/** @throws ApiError 400 for a list that would take too long. */
export function checkCount(count: number, at: string): void {
  if (count <= maxEntries) return;
  throw badRequest(
    at,
    `${at} holds ${count} entries, but ${maxEntries} are the most. Send less at once.`,
    "too_many_entries",
  );
}

/** A list that is not too long; undefined for what is none. @throws ApiError 400 for one that is. */
export function asList(value: unknown, at: string): readonly unknown[] | undefined {
  if (!Array.isArray(value)) return undefined;
  checkCount(value.length, at);
  return value;
}

/** No schema or message is nested as deeply as this; code that follows it down would have no stack left. */
const maxLevels = 512;

export function isTooDeep(value: unknown): boolean {
  const isNested = (each: unknown): each is object => typeof each === "object" && each !== null;
  let level = [value].filter(isNested);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= maxLevels) return true;
    level = level.flatMap((each) =>
      (Array.isArray(each) ? (each as unknown[]) : Object.values(each)).filter(isNested),
    );
  }
  return false;
}

/** Objects, lists, and fields of objects in one request; 10,000 messages with tool calls have 140,000. */
export const maxMembers: number = 2 ** 18;
/** Values after a comma, such as the ids of a prompt. */
const maxValues = 2 ** 21;

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [minus, zero, nine] = [0x2d, 0x30, 0x39];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The index of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}

function tooMany(what: string, most: number): Error {
  return badRequest(
    undefined,
    `The request holds more than ${most} ${what}, which is the most. Send less at once.`,
    "too_many_entries",
  );
}

/** Doubles have every integer of so many digits. */
const exactDigits = 15;
const restOfNumber = /[\d.eE+-]*/uy;

/** The end of the number whose first digits end at `end`. */
function endOfNumber(text: string, end: number): number {
  restOfNumber.lastIndex = end;
  return end + restOfNumber.exec(text)![0].length;
}

/** Whether JavaScript writes the number that begins at `start` in another way. */
function isNumberLost(text: string, start: number, end: number): boolean {
  const number = text.slice(text.charCodeAt(start - 1) === minus ? start - 1 : start, end);
  return String(Number(number)) !== number;
}

/**
 * Counts in the text, before anything is made of it: every message, part, tool and member costs more time later
 * than it has bytes. Linear, and ends at the first limit. The text may not be JSON. Returns the text of each
 * field of the outer object in which JavaScript's values lose digits or the order of keys. @throws ApiError 400
 */
export function checkStructure(text: string): ReadonlyMap<string, string> {
  const lost = new Map<string, string>();
  let [depth, members, values, key, fieldKey, fieldStart] = [0, 0, 0, 0, 0, 0];
  let isLost = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= zero && code <= nine) {
      const start = at;
      let next = text.charCodeAt(++at);
      while (next >= zero && next <= nine) next = text.charCodeAt(++at);
      if (next !== comma || at - start > exactDigits || text.charCodeAt(start - 1) === minus) {
        at = endOfNumber(text, at);
        isLost ||= depth > 1 && isNumberLost(text, start, at);
      }
      at--;
    } else if (code === quote) {
      key = at;
      at = endOfString(text, at);
    } else if (code === openObject || code === openList) {
      members++;
      if (++depth > maxLevels) throw nestedTooDeeply();
    } else if (code === colon) {
      members++;
      if (depth === 1) [fieldKey, fieldStart] = [key, at + 1];
      else isLost ||= text.charCodeAt(key + 1) >= zero && text.charCodeAt(key + 1) <= nine;
    } else if (code === comma || code === closeObject || code === closeList) {
      if (code === comma) values++;
      else depth--;
      const isFieldEnd = code === comma ? depth === 1 : depth === 0;
      if (isFieldEnd && fieldStart > 0 && (isLost || lost.size > 0)) {
        const name = text.slice(fieldKey + 1, endOfString(text, fieldKey));
        // A name that stands twice has its last value.
        if (isLost) lost.set(name, text.slice(fieldStart, at));
        else lost.delete(name);
      }
      if (isFieldEnd) [fieldStart, isLost] = [0, false];
    }
    if (members > maxMembers) throw tooMany("objects, lists and fields", maxMembers);
    if (values > maxValues) throw tooMany("values", maxValues);
  }
  return lost;
}
