/**
 * Schemas of requests, each compiled once for all that need it: the check of a request, and the engine's masks.
 * Small ones are compiled at once, all others in a thread; outcomes are kept, refusals too.
 */
import { createHash } from "node:crypto";
import type { Grammar } from "../../core/grammar.ts";
import type { JsonValue } from "../../core/message.ts";
import { raceAbort } from "../../util/abort.ts";
import { checkDepth } from "../schema/check-depth.ts";
import { compileSchema, type CompiledSchema } from "../schema/compile-schema.ts";
import { GrammarLimitError, WorkBudget } from "../work-budget.ts";
import { bytesOf, outcomeOf, problemOf, type SchemaOutcome } from "./schema-outcome.ts";
import { SchemaThread } from "./schema-thread.ts";

/** Steps without a thread: a few milliseconds at most, and enough for most schemas. */
const quickSteps = 1000;

/** Values of a schema, which are counted before it is compiled. */
const maxValues = 100_000;

/** Of what is kept, by use. */
const maxKept = 256;
const maxBytes = 64 * 2 ** 20;

/** What the thread compiles, or will. */
interface Running {
  readonly outcome: Promise<SchemaOutcome>;
  /** False where the thread has begun. */
  readonly takeBack: () => boolean;
  /** Those that wait for it. */
  waiting: number;
}

const thread = new SchemaThread();
const kept = new Map<string, SchemaOutcome>();
const running = new Map<string, Running>();
let bytes = 0;

/** One request asks for the key of its schema several times, and a large schema takes milliseconds. */
const keys = new WeakMap<object, string>();

function keyOf(schema: JsonValue): string {
  return createHash("sha256").update(JSON.stringify(schema)).digest("base64");
}

/** Of a schema that does not change. */
export function schemaKey(schema: JsonValue): string {
  if (typeof schema !== "object" || schema === null) return keyOf(schema);
  const key = keys.get(schema) ?? keyOf(schema);
  keys.set(schema, key);
  return key;
}

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

function compileInThread(schema: JsonValue, key: string, group: string): Running {
  const job = thread.compile(JSON.stringify(schema), group);
  const outcome = job.outcome.then((found) => {
    running.delete(key);
    keep(key, found);
    return found;
  });
  const started = { outcome, takeBack: () => job.takeBack(), waiting: 0 };
  running.set(key, started);
  return started;
}

/** What no call waits for any more is not compiled, unless the thread has begun. */
async function waitFor(job: Running, key: string, signal: AbortSignal): Promise<SchemaOutcome> {
  job.waiting++;
  try {
    return await raceAbort(job.outcome, signal);
  } finally {
    job.waiting--;
    if (job.waiting === 0 && job.takeBack()) running.delete(key);
  }
}

const never = new AbortController().signal;

/**
 * @param group whose turn it is, such as a session
 * @param signal ends the wait, with its reason
 * @throws GrammarLimitError where too many of the group are waiting.
 */
export async function schemaOutcome(
  schema: JsonValue,
  group: string,
  signal: AbortSignal = never,
): Promise<SchemaOutcome> {
  const isKnown = typeof schema === "object" && schema !== null && keys.has(schema);
  const tooDeep = isKnown ? null : problemOf(() => checkDepth(schema, new WorkBudget(maxValues)));
  if (tooDeep !== null) return tooDeep;
  const key = schemaKey(schema);
  // What is being compiled was not quick before.
  const job = running.get(key);
  if (job !== undefined) return waitFor(job, key, signal);
  const known = kept.get(key) ?? quickly(schema);
  if (known === null) return waitFor(compileInThread(schema, key, group), key, signal);
  keep(key, known);
  return known;
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

/**
 * All schemas of a grammar. What was compiled for a request is kept, so most are there; each other one has a separate
 * turn.
 * @throws an error that says why one is none; the signal's reason
 */
export async function readySchemas(grammar: Grammar, signal?: AbortSignal): Promise<ReadySchemas> {
  const found = new Map<string, CompiledSchema>();
  for (const schema of schemasOf(grammar)) {
    const key = schemaKey(schema);
    if (found.has(key)) continue;
    const outcome = await schemaOutcome(schema, key, signal);
    if ("problem" in outcome) throw new GrammarLimitError(outcome.problem);
    found.set(key, outcome.compiled);
  }
  return [...found];
}
