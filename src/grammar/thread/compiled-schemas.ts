/**
 * Schemas of requests, each compiled once for all that need it: the check of a request, and the engine's masks.
 * Small ones are compiled at once, all others in a thread; outcomes are kept, refusals too.
 */
import { createHash } from "node:crypto";
import type { Grammar } from "../../core/grammar.ts";
import type { JsonValue } from "../../core/message.ts";
import { checkDepth } from "../schema/check-depth.ts";
import { compileSchema, type CompiledSchema } from "../schema/compile-schema.ts";
import { GrammarLimitError, WorkBudget } from "../work-budget.ts";
import { bytesOf, outcomeOf, problemOf, type SchemaOutcome } from "./schema-outcome.ts";
import { SchemaThread } from "./schema-thread.ts";

/** Steps without a thread: some milliseconds at most, and enough for most schemas. */
const quickSteps = 3000;

/** Values of a schema, which are counted before it is compiled. */
const maxValues = 100_000;

/** Of what is kept, by use. */
const maxKept = 256;
const maxBytes = 64 * 2 ** 20;

const thread = new SchemaThread();
const kept = new Map<string, SchemaOutcome>();
const running = new Map<string, Promise<SchemaOutcome>>();
let bytes = 0;

const keyOf = (text: string): string => createHash("sha256").update(text).digest("base64");

export const schemaKey = (schema: JsonValue): string => keyOf(JSON.stringify(schema));

function keep(key: string, outcome: SchemaOutcome): void {
  const before = kept.get(key);
  if (before !== undefined) bytes -= bytesOf(before);
  kept.delete(key);
  kept.set(key, outcome);
  bytes += bytesOf(outcome);
  for (const [oldest, one] of kept) {
    if (kept.size <= maxKept && bytes <= maxBytes) return;
    kept.delete(oldest);
    bytes -= bytesOf(one);
  }
}

/** Null where it takes longer than a few milliseconds. */
function quickly(schema: JsonValue): SchemaOutcome | null {
  try {
    const outcome = outcomeOf(() => compileSchema(schema, new WorkBudget(quickSteps)));
    return "problem" in outcome && outcome.isLimit ? null : outcome;
  } catch {
    // What is a fault of the compiler is told by the thread, and ends only that.
    return null;
  }
}

async function compiled(schema: JsonValue, group: string): Promise<SchemaOutcome> {
  const text = JSON.stringify(schema);
  const key = keyOf(text);
  // What is being compiled was not quick before.
  const known = kept.get(key) ?? running.get(key) ?? quickly(schema);
  if (known !== null) {
    const outcome = await known;
    keep(key, outcome);
    return outcome;
  }
  const work = thread.compile(text, group);
  running.set(key, work);
  try {
    const outcome = await work;
    keep(key, outcome);
    return outcome;
  } finally {
    running.delete(key);
  }
}

/**
 * @param group whose turn it is, such as a session
 * @throws GrammarLimitError where too many of the group are waiting.
 */
export async function schemaOutcome(schema: JsonValue, group: string): Promise<SchemaOutcome> {
  const tooDeep = problemOf(() => checkDepth(schema, new WorkBudget(maxValues)));
  return tooDeep ?? compiled(schema, group);
}

/** Compiled schemas by `schemaKey`; other threads take them without a copy. */
export type ReadySchemas = readonly (readonly [key: string, schema: CompiledSchema])[];

function* schemasOf(grammar: Grammar): Generator<JsonValue> {
  if (grammar.type === "json") yield grammar.schema;
  if (grammar.type === "repeat") yield* schemasOf(grammar.part);
  const parts =
    grammar.type === "sequence" ? grammar.parts : grammar.type === "choice" ? grammar.options : [];
  for (const part of parts) yield* schemasOf(part);
}

/** All schemas of a grammar. @throws GrammarLimitError, or an error that says why one is none. */
export async function readySchemas(grammar: Grammar, group: string): Promise<ReadySchemas> {
  const found = new Map<string, CompiledSchema>();
  for (const schema of schemasOf(grammar)) {
    const outcome = await schemaOutcome(schema, group);
    if ("problem" in outcome) throw new GrammarLimitError(outcome.problem);
    found.set(schemaKey(schema), outcome.compiled);
  }
  return [...found];
}
