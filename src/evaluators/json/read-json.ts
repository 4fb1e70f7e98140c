/** JSON in what a model wrote: found, bounded, and read with all of its digits. */
import { type ExactJson, parseExact } from "../../util/exact-json.ts";
import { type FencedBlock, fencedBlocks } from "../fences.ts";
import { evaluatorError } from "../scorer.ts";

const maxDepth = 64;
const maxNodes = 20_000;

/** A JSON value, or why there is none. */
export type JsonReading = { readonly value: ExactJson } | { readonly reason: string };

/** Reads JSON of at most 64 levels and 20,000 values. */
export function readJson(text: string): JsonReading {
  let depth = 0;
  let nodes = 1;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (inString) {
      if (char === "\\") i++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === "{" || char === "[") depth++;
    else if (char === "}" || char === "]") depth--;
    else if (char === "," || char === ":") nodes++;
    if (depth > maxDepth) return { reason: `the JSON has more than ${maxDepth} levels` };
    if (nodes > maxNodes) return { reason: `the JSON has more than ${maxNodes} values` };
  }
  try {
    return { value: parseExact(text) };
  } catch {
    return { reason: "the text is not JSON" };
  }
}

/** The arguments of a tool call, which may be empty; null for what is not a JSON object. */
export function readArguments(text: string): ReadonlyMap<string, ExactJson> | null {
  const reading = readJson(text.trim() === "" ? "{}" : text);
  return "value" in reading && reading.value instanceof Map ? reading.value : null;
}

const thinkEnd = "</think>";
const fence = "```";

/** What may be JSON in a block: a value may begin in the line of the fence, and the last fence may end a line. */
function blockText({ info, text }: FencedBlock): string {
  const start = info.search(/[[{]/u);
  const body = `${start === -1 ? "" : info.slice(start)}\n${text}`.trim();
  let end = body.length;
  while (body[end - 1] === "`") end--;
  return body.length - end >= fence.length ? body.slice(0, end) : body;
}

/** Between the last two fences, wherever they stand in their lines. */
function betweenFences(text: string, isAlone: boolean): string | null {
  const close = text.lastIndexOf(fence);
  const open = close > 0 ? text.lastIndexOf(fence, close - 1) : -1;
  if (open === -1 || (isAlone && (open > 0 || !text.endsWith(fence)))) return null;
  return text.slice(open + fence.length, close).replace(/^[A-Za-z\d]*/u, "");
}

const isJsonBlock = ({ info }: FencedBlock): boolean => /^json/iu.test(info);

/**
 * The JSON of a response, after reasoning in think tags: the whole text, else the last fenced block that is JSON.
 * Blocks of other languages count only where there are no others, and one that is marked as JSON and is not
 * ends the search.
 * @param isAlone whether there must be no text around the block. @default false
 */
export function readResponse(text: string, isAlone = false): JsonReading {
  let rest = text.trim();
  if (rest.startsWith("<think>")) {
    const end = rest.indexOf(thinkEnd);
    if (end === -1) return { reason: "the reasoning does not end" };
    rest = rest.slice(end + thinkEnd.length).trim();
  }
  const whole = readJson(rest);
  if ("value" in whole) return whole;
  const all = fencedBlocks(rest).filter((block) => block.isAlone || !isAlone);
  const likely = all.filter((block) => isJsonBlock(block) || /^(?:$|[[{])/u.test(block.info));
  for (const block of (likely.length > 0 ? likely : all).toReversed()) {
    const reading = readJson(blockText(block));
    if ("value" in reading) return reading;
    if (!isJsonBlock(block)) continue;
    if (block.text.includes(fence)) break;
    return reading;
  }
  const inner = betweenFences(rest, isAlone);
  return inner === null ? whole : readJson(inner.trim());
}

/** A reference answer as JSON; text that is JSON is read. @throws AgentTrainerError for numbers that JSON does not have */
export function exactReference(value: unknown, taskId: string): ExactJson {
  if (typeof value === "string") {
    const reading = readJson(value);
    return "value" in reading ? reading.value : value;
  }
  const text = JSON.stringify(value, (_key, one: unknown) => {
    if (typeof one !== "bigint" && (typeof one !== "number" || Number.isFinite(one))) return one;
    throw evaluatorError(
      `The reference answer of task "${taskId}" has the number ${one}, which cannot be compared as JSON.`,
      "Write the reference as JSON text, with all of its digits.",
      { taskId },
    );
  });
  return parseExact(text ?? "null");
}

/** The value at a path such as `user.tags.0`; undefined where there is none. */
export function valueAt(value: ExactJson, path: string): ExactJson | undefined {
  let found: ExactJson | undefined = value;
  for (const key of path.split(".")) {
    if (found instanceof Map) found = (found as ReadonlyMap<string, ExactJson>).get(key);
    else if (Array.isArray(found) && /^\d+$/u.test(key))
      found = (found as ExactJson[])[Number(key)];
    else return undefined;
  }
  return found;
}
