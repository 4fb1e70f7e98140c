/**
 * JSON of a worker whose prompt ids are read from its bytes: they are most of a long response, and as text,
 * numbers and a list they would be in memory four times. Everything else is left to `JSON.parse`.
 */
import { isJsonObject } from "../../../http/json-fields.ts";

/** A quote with no backslash before it begins a string, and what is followed by a colon is a name. */
const opening = Buffer.from('"prompt_token_ids":[');
/** Shorter ones are not worth it. */
const minBytes = 4_096;
const [backslash, comma, bracket, zero, nine] = [..."\\,]09"].map((char) => char.charCodeAt(0));
/** Nine digits fit into 32 bits. */
const maxDigits = 9;

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
  const end = bytes.indexOf("]", start, "latin1") + 1;
  if (end - start < minBytes) return null;
  // A digit and a comma each, at least.
  const ids = new Int32Array((end - start) >> 1);
  let count = 0;
  let value = 0;
  let digits = 0;
  for (let i = start + 1; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte >= (zero as number) && byte <= (nine as number)) {
      value = value * 10 + byte - (zero as number);
      digits++;
    } else if ((byte === comma || byte === bracket) && digits > 0 && digits <= maxDigits) {
      ids[count++] = value;
      value = 0;
      digits = 0;
    } else return null;
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
  if (!found) return JSON.parse(bytes.toString("utf8"));
  const { ids, start, end } = found;
  const before = bytes.toString("utf8", 0, start);
  const value: unknown = JSON.parse(`${before}[]${bytes.toString("utf8", end)}`);
  const holder = holderOf(value);
  if (!holder) return JSON.parse(bytes.toString("utf8"));
  holder.prompt_token_ids = ids;
  return value;
}
