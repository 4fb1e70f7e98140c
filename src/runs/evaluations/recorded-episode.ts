/**
 * Reads a line as the episode that it should be. The file may come from anywhere: what is read of an episode has the
 * type that it should have, or the line counts as damaged.
 */
import type { Episode } from "../../core/trajectory.ts";

/** Where an episode came from. */
export type EpisodePhase = "train" | "validation" | "evaluation";

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === "string";
const anything: Check = () => true;
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const nullable =
  (check: Check): Check =>
  (value) =>
    value === null || value === undefined || check(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
/** An object, no list; other fields than these may be anything. */
const fields =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(checks).every(([name, check]) =>
      check((value as Readonly<Record<string, unknown>>)[name]),
    );

/** Their numbers are not looked at: there may be millions, and nothing is done with one but showing it. */
const ids = optional(listOf(anything));

const part = fields({ text: optional(text), url: optional(text) });
const message = fields({
  role: (value) =>
    value === "system" || value === "user" || value === "assistant" || value === "tool",
  content: nullable((value) => text(value) || listOf(part)(value)),
  reasoning: optional(text),
  toolCalls: optional(listOf(fields({ name: text, arguments: text }))),
  name: optional(text),
});
const trace = fields({
  messages: listOf(message),
  response: message,
  tools: optional(listOf(fields({ name: text }))),
  promptIds: ids,
  responseIds: ids,
  logprobs: ids,
  temperedLogprobs: ids,
  weightChanges: ids,
  stopReason: nullable(text),
  usage: optional(fields({})),
  malformed: optional(text),
  unmet: optional(text),
  unenforced: optional(listOf(text)),
  neededTokens: optional((value) => Number.isSafeInteger(value)),
  untrainable: optional(text),
  adapter: optional(nullable(text)),
  sideCall: optional(text),
});
const episode = fields({
  id: text,
  task: fields({ id: text, instruction: optional(text), metadata: nullable(fields({})) }),
  trajectories: listOf(
    fields({ name: optional(text), untrained: optional(text), steps: listOf(fields({ trace })) }),
  ),
  terminationReason: nullable(text),
  metrics: nullable(fields({})),
  error: optional(fields({ name: text, message: text, stack: optional(text) })),
});

/** Null where the line holds no episode. Token ids are the lists that JSON has. */
export function parseEpisode(line: string): Episode | null {
  try {
    const value: unknown = JSON.parse(line);
    return episode(value) ? (value as Episode) : null;
  } catch {
    return null;
  }
}
