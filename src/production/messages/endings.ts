/** How a response ended, in the words of every service and SDK, wherever a record has them. */
import type { Damage } from "../../core/completeness.ts";
import { isJsonObject } from "../../util/json-object.ts";

/** Names of fields and attributes, the last part of a path. */
const fieldName = /(?:finish|stop|done)_?reasons?$/iu;

/** Whether a field or an attribute says how a response ended. */
export const saysEnding = (name: string): boolean => fieldName.test(name);

/** Fields with what was said: an answer in JSON may have any names. */
const contents = new Set(
  "content contents parts text tool_calls toolCalls arguments args input function parsed messages logprobs".split(
    " ",
  ),
);

const statuses = new Set(["incomplete", "failed", "cancelled", "in_progress", "queued"]);

const deepest = 6;

/** All reasons in what was recorded next to a response. */
export function reasonsNear(value: unknown, depth = 0): readonly unknown[] {
  if (depth > deepest) return [];
  if (Array.isArray(value))
    return (value as unknown[]).flatMap((one) => reasonsNear(one, depth + 1));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, field]) =>
    saysEnding(name) ? field : contents.has(name) ? [] : reasonsNear(field, depth + 1),
  );
}

/** All reasons in a response. */
export function reasonsIn(value: unknown, depth = 0): readonly unknown[] {
  if (depth > deepest) return [];
  if (Array.isArray(value)) return (value as unknown[]).flatMap((one) => reasonsIn(one, depth + 1));
  if (!isJsonObject(value)) return [];
  const details = value["incomplete_details"] ?? value["incompleteDetails"];
  return [
    ...(isJsonObject(details) ? [details["reason"] ?? "incomplete"] : []),
    // Of OpenAI's Responses API; "completed" of an item says nothing of the whole.
    ...(statuses.has(value["status"] as string) ? [value["status"]] : []),
    ...(value["status"] === "completed" && depth <= 2 ? ["stop"] : []),
    ...Object.entries(value).flatMap(([name, field]) =>
      saysEnding(name) ? field : contents.has(name) ? [] : reasonsIn(field, depth + 1),
    ),
  ];
}

const limited = /length|limit|max_?(?:output_?|completion_?)?tokens|context_?window|exceed/iu;
const filtered =
  /filter|safety|refus|recitation|blocklist|blocked|prohibited|spii|guardrail|moderation|toxic|language/iu;
const interrupted =
  /error|fail|cancel|abort|incomplete|in_progress|queued|pause|malformed|unexpected|insufficient|timeout|interrupt/iu;
/** Streams that are merged have a word twice. */
const whole =
  /^(?:stop|end_?turn|stop_?sequence|tool_?calls?|tool_?use|function_?calls?|completed?|finished|eos(?:_?token)?|done)+$/iu;
const calling = /^(?:tool_?calls?|tool_?use|function_?calls?)+$/iu;

export interface Ending {
  readonly damage: ReadonlySet<Damage>;
  /** Whether something says that it ended by itself. */
  readonly isKnown: boolean;
  /** Whether it is said to end in calls of tools. */
  readonly isCalling: boolean;
}

/** @param values reasons: a text, a list of them, or either as JSON; words that are not known say nothing */
export function endingOf(values: readonly unknown[]): Ending {
  const words = values.flat(3).flatMap((value) => {
    if (typeof value !== "string") return [];
    // OpenTelemetry's attribute is a list, which some write as JSON, and Python writes enums with their class.
    return [...value.matchAll(/[\w. -]+/gu)].map(([word]) =>
      word.trim().replace(/^.*\./u, "").replaceAll(/[ -]/gu, "_"),
    );
  });
  const damage = new Set<Damage>();
  for (const word of words) {
    if (whole.test(word)) continue;
    if (filtered.test(word)) damage.add("filtered");
    else if (limited.test(word)) damage.add("cut off");
    else if (interrupted.test(word)) damage.add("interrupted");
  }
  return {
    damage,
    isKnown: words.some((word) => whole.test(word)),
    isCalling: words.some((word) => calling.test(word)),
  };
}
