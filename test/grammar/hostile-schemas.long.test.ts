/** Schemas of strangers: each is compiled or refused within its budget, and nobody waits for another's. */
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/core/message.ts";
import { compileSchema } from "../../src/grammar/schema/compile-schema.ts";
import { readySchemas, schemaOutcome } from "../../src/grammar/thread/compiled-schemas.ts";
import { SchemaThread, type CompileJob } from "../../src/grammar/thread/schema-thread.ts";
import { TokenGrammar, TokenMatcher } from "../../src/grammar/token-masks.ts";
import { compileSteps, GrammarLimitError, WorkBudget } from "../../src/grammar/work-budget.ts";
import { byteVocabulary } from "./byte-vocabulary.ts";
import { hostileSchemas } from "./hostile-schemas.ts";

describe("a schema that costs more than it looks", () => {
  it.each(hostileSchemas)("%s: %s", async (_, expected, schema) => {
    const outcome = await schemaOutcome(schema, "hostile");
    expect("compiled" in outcome ? "works" : "refused").toBe(expected);
    if ("problem" in outcome) expect(outcome.problem.length).toBeGreaterThan(20);
  });

  it.each([
    ["works", { enum: Array.from({ length: 9000 }, (_, i) => `once ${i}`) }],
    ["is refused", { type: "string", pattern: "once.{40}b" }],
  ])("is compiled once where it %s", async (_, schema) => {
    const [first, again] = await Promise.all([
      schemaOutcome(schema, "a"),
      schemaOutcome(structuredClone(schema), "b"),
    ]);
    expect(again).toBe(first);
    expect(await schemaOutcome(schema, "c")).toBe(first);
  });

  it("is told which limit it is above", () => {
    const schema: JsonValue = { type: "string", pattern: "a.{40}b" };
    const budget = new WorkBudget();
    expect(() => compileSchema(schema, budget)).toThrow("more than 1,000,000 steps to compile");
    // The last step may be a larger one, and it is counted before it is done.
    expect(budget.spent).toBeLessThan(compileSteps * 1.1);
  });
});

describe("the thread", () => {
  const slow = (i: number): string => `{ "type": "string", "pattern": "a.{40}${i}" }`;

  it("lets groups take turns", async () => {
    const thread = new SchemaThread();
    const ended: string[] = [];
    const note =
      (name: string) =>
      (outcome: object): void =>
        void ended.push(`${name} ${"compiled" in outcome}`);
    const many = [0, 1, 2, 3].map((i) => thread.compile(slow(i), "a").outcome.then(note(`a${i}`)));
    const one = thread.compile('{ "type": "integer" }', "b").outcome.then(note("b"));
    await Promise.all([...many, one]);
    expect(ended).toEqual(["a0 false", "a1 false", "b true", "a2 false", "a3 false"]);
  });

  it("refuses a group that has too many waiting", async () => {
    const thread = new SchemaThread();
    // The first one is not waiting.
    const compile = (group: string): CompileJob => thread.compile('{ "type": "null" }', group);
    const accepted = Array.from({ length: 33 }, () => compile("a"));
    expect(() => compile("a")).toThrow(GrammarLimitError);
    const jobs = [...accepted, compile("b")];
    for (const outcome of await Promise.all(jobs.map((job) => job.outcome)))
      expect(outcome).toHaveProperty("compiled");
  });

  it("gives back the place of what is taken back, unless it has begun", async () => {
    const thread = new SchemaThread();
    const compile = (): CompileJob => thread.compile('{ "type": "null" }', "a");
    const [begun, ...waiting] = Array.from({ length: 33 }, compile);
    expect(begun!.takeBack()).toBe(false);
    expect(waiting[7]!.takeBack()).toBe(true);
    expect(waiting[7]!.takeBack()).toBe(false);
    const next = compile();
    expect(compile).toThrow(GrammarLimitError);
    expect(await next.outcome).toHaveProperty("compiled");
    expect(next.takeBack()).toBe(false);
  });
});

describe("a wait that is ended", () => {
  const slow = (name: string): JsonValue => ({ type: "string", pattern: `${name}.{40}b` });
  const wait = (name: string, signal: AbortSignal): Promise<unknown> =>
    schemaOutcome(slow(name), "waits", signal);

  it("takes its schema out of the queue, unless others wait for it", async () => {
    const gone = new AbortController();
    const stays = new AbortController().signal;
    const waiting = Array.from({ length: 33 }, (_, i) => wait(`gone ${i}`, gone.signal));
    const shared = wait("gone 3", stays);
    await expect(wait("late", stays)).rejects.toThrow(GrammarLimitError);
    gone.abort(new Error("left"));
    for (const ended of await Promise.allSettled(waiting))
      expect(ended).toMatchObject({ status: "rejected", reason: { message: "left" } });
    const late = [wait("late", stays), wait("gone 5", stays)];
    for (const outcome of await Promise.all([shared, ...late]))
      expect(outcome).toHaveProperty("problem");
  });
});

it("a wait for all schemas of a grammar ends with its signal", async () => {
  const gone = new AbortController();
  const parts = ["p", "q"].map((name) => ({
    ...{ type: "json" as const, schema: { type: "string", pattern: `${name}.{41}b` } },
  }));
  const waiting = readySchemas({ type: "sequence", parts }, gone.signal);
  gone.abort(new Error("left"));
  await expect(waiting).rejects.toThrow("left");
});

describe("alternatives that a text leaves open", () => {
  it("cost what the schema has, and not what they multiply to", () => {
    const lists = Array.from({ length: 8 }, (_, i) => ({
      type: "array",
      items: { $ref: "#" },
      maxItems: i + 2,
    }));
    const schema = { anyOf: [...lists, { type: "integer" }] };
    const vocabulary = byteVocabulary(["[[", "[1,"]);
    const grammar = new TokenGrammar({ type: "json", schema }, vocabulary);
    const limits = { stopTokenIds: [], maxTokens: 2000 };
    const matcher = new TokenMatcher(grammar, limits);
    let at = grammar.start;
    for (let i = 0; i < 200; i++) {
      expect(matcher.mask()!.count).toBeGreaterThan(3);
      matcher.accept(256);
      at = grammar.step(at, 256)!;
      expect(at.frames.length).toBeLessThan(200);
    }
  });

  it("are refused at the same place, whatever was sampled before", () => {
    const names = Array.from({ length: 400 }, (_, i) => ({
      type: "object",
      properties: { a: { type: "string", maxLength: 300 + i }, [`b${i}`]: { type: "string" } },
      required: ["a", `b${i}`],
    }));
    const words = Array.from({ length: 5000 }, (_, i) => `w${i}`);
    const grammar = new TokenGrammar(
      { type: "json", schema: { anyOf: names } },
      byteVocabulary(words),
    );
    const place = (): string => {
      const matcher = new TokenMatcher(grammar, { stopTokenIds: [], maxTokens: 2000 });
      let read = "";
      try {
        for (const letter of '{"a":"w1') {
          matcher.mask();
          matcher.accept(letter.codePointAt(0)!);
          read += letter;
        }
      } catch (error) {
        return `${read} ${(error as Error).name}`;
      }
      return read;
    };
    const first = place();
    expect(first).toBe('{"a":" GrammarLimitError');
    expect(place()).toBe(first);
  });
});
