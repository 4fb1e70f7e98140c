/** One call as JSON, `{"name": ..., "arguments": {...}}`: read and written with the digits and the order of its keys. */
import { pythonJson, tryParseExact, writeExact, type ExactJson } from "../../../util/exact-json.ts";
import type { ReadCall } from "./tool-format.ts";

/** What models call the arguments, whatever their template asks for. */
const argumentKeys = ["arguments", "parameters", "input", "args"];
/** What a call may have besides. */
const otherKeys = new Set(["name", "id", "type"]);

type Fields = ReadonlyMap<string, ExactJson>;

export const isFields = (value: ExactJson | undefined): value is Fields => value instanceof Map;

/** Arguments as the fields that they are: an empty object where there are none; null where they are not an object. */
function argumentFields(value: ExactJson | undefined): Fields | null {
  if (value === undefined || value === null) return new Map();
  if (isFields(value)) return value;
  if (typeof value !== "string") return null;
  if (value.trim() === "") return new Map();
  // Some models write the arguments as a string that holds JSON.
  const inner = tryParseExact(value);
  return inner === null || isFields(inner) ? argumentFields(inner) : null;
}

const isEmpty = (value: ExactJson): boolean => isFields(value) && value.size === 0;

export function readJsonCall(value: ExactJson | undefined): ReadCall {
  if (value === undefined) return "a tool call is not JSON";
  const name = isFields(value) ? value.get("name") : undefined;
  if (!isFields(value) || typeof name !== "string") return 'a tool call has no "name"';
  const given = argumentKeys.filter((key) => value.has(key)).map((key) => value.get(key) ?? null);
  if (given.length === 0 && [...value.keys()].some((key) => !otherKeys.has(key)))
    return `a call of "${name}" has fields, but no "arguments"`;
  const fields = argumentFields(given.find((each) => each !== null && !isEmpty(each)));
  if (fields === null) return `the arguments of a call of "${name}" are not a JSON object`;
  return { name, arguments: writeExact(fields) };
}

/** As a template writes them, with an empty object for none; `otherwise` where they are not JSON. */
export function writeArguments(text: string, otherwise: string = text): string {
  if (text.trim() === "") return "{}";
  const value = tryParseExact(text);
  return value === undefined ? otherwise : writeExact(value ?? new Map(), pythonJson);
}

/** One call, as all families but Llama's write it. */
export function writeJsonCall(name: string, argumentsText: string): string {
  return `{"name": ${JSON.stringify(name)}, "arguments": ${writeArguments(argumentsText)}}`;
}

const [quote, backslash, openings, closings] = [34, 92, [91, 123], [93, 125]];

/** Finds the end of a JSON object or list in a growing text, without asking whether it is valid. */
export class JsonScan {
  #at = 0;
  #depth = 0;
  #isInString = false;
  #end = -1;

  /** Where it ends in a text that begins as the one before; -1 where it has not ended. */
  endIn(text: string): number {
    for (; this.#end === -1 && this.#at < text.length; this.#at++) {
      const unit = text.charCodeAt(this.#at);
      if (this.#isInString) {
        if (unit === backslash) this.#at++;
        else if (unit === quote) this.#isInString = false;
      } else if (unit === quote) this.#isInString = true;
      else if (openings.includes(unit)) this.#depth++;
      else if (closings.includes(unit) && --this.#depth <= 0) this.#end = this.#at + 1;
    }
    return this.#end;
  }
}
