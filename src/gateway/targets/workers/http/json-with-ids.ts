/**
 * JSON of a worker whose prompt ids are read from its bytes: they are most of a long response, and as text,
 * numbers and a list they would be in memory four times. Everything else is left to `JSON.parse`.
 */
import { parseWithSources } from "../../../http/json-source.ts";
import { isJsonObject } from "../../../../util/json-object.ts";

/** Arguments that are an object instead of its text. */
const objectArguments = /"(?:arguments|input)"\s*:\s*\{/u;

/** `JSON.parse`, which keeps the digits of arguments. @throws SyntaxError */
export const parseAnswer = (text: string): unknown =>
  objectArguments.test(text) ? parseWithSources(text) : JSON.parse(text);

/** A quote with no backslash before it begins a string, and what is followed by a colon is a name. */
const opening = Buffer.from('"prompt_token_ids":[');
/** Shorter ones are not worth it. */
const minBytes = 4_096;
const [backslash, comma, bracket, zero] = [..."\\,]0"].map((char) => char.charCodeAt(0)) as [
  number,
  number,
  number,
  number,
];
/** Nine digits fit into 32 bits. */
const maxDigits = 9;

/** Longer lists are not worth keeping memory for. */
const maxRoom = 2 ** 19;
/** Where ids are collected; grows to the longest list so far. */
let room = new Int32Array(0);

interface FoundIds {
  readonly ids: Int32Array;
  /** Of the list, its brackets included. */
  readonly start: number;
  readonly end: number;
}

/** Null unless there is a list of whole numbers, without spaces, as vLLM and SGLang write it. */
function findIds(bytes: Buffer): FoundIds | null {
  const at = bytes.indexOf(opening);
  if (at < 1 || bytes[at - 1] === backslash) return null;
  const start = at + opening.length - 1;
  const end = bytes.indexOf(bracket, start) + 1;
  if (end - start < minBytes) return null;
  // A digit and a comma each, at least.
  const most = (end - start) >> 1;
  if (room.length < most && most <= maxRoom) room = new Int32Array(most);
  const ids = room.length < most ? new Int32Array(most) : room;
  let count = 0;
  for (let i = start + 1; i < end; i++) {
    const first = i;
    let value = 0;
    let digit = (bytes[i] as number) - zero;
    while (digit >= 0 && digit <= 9) {
      value = value * 10 + digit;
      digit = (bytes[++i] as number) - zero;
    }
    const digits = i - first;
    const byte = digit + zero;
    if (digits === 0 || digits > maxDigits || (byte !== comma && byte !== bracket)) return null;
    ids[count++] = value;
  }
  return { ids: ids.slice(0, count), start, end };
}

/** The object that had the list, and now has this in its place. */
const emptied = (value: unknown): value is { prompt_token_ids: unknown } =>
  isJsonObject(value) &&
  Array.isArray(value.prompt_token_ids) &&
  value.prompt_token_ids.length === 0;

function holderOf(value: unknown): { prompt_token_ids: unknown } | undefined {
  if (emptied(value)) return value;
  if (!isJsonObject(value) || !Array.isArray(value.choices)) return undefined;
  return value.choices.find(emptied);
}

/**
 * `JSON.parse` of the whole, with the first long `prompt_token_ids` of a response or of its choices as an
 * Int32Array. @throws SyntaxError
 */
export function parseWithIds(bytes: Buffer): unknown {
  const found = findIds(bytes);
  if (!found) return parseAnswer(bytes.toString("utf8"));
  const { ids, start, end } = found;
  const before = bytes.toString("utf8", 0, start);
  const value: unknown = parseAnswer(`${before}[]${bytes.toString("utf8", end)}`);
  const holder = holderOf(value);
  if (!holder) return parseAnswer(bytes.toString("utf8"));
  holder.prompt_token_ids = ids;
  return value;
}
