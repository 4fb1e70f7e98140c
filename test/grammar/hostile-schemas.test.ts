/** Schemas of strangers: each is compiled or refused within its budget, and nobody waits for another's. */
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/core/message.ts";
import { compileSchema } from "../../src/grammar/schema/compile-schema.ts";
import { schemaOutcome } from "../../src/grammar/thread/compiled-schemas.ts";
import { SchemaThread } from "../../src/grammar/thread/schema-thread.ts";
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
    const many = [0, 1, 2, 3].map((i) => thread.compile(slow(i), "a").then(note(`a${i}`)));
    const one = thread.compile('{ "type": "integer" }', "b").then(note("b"));
    await Promise.all([...many, one]);
    expect(ended).toEqual(["a0 false", "a1 false", "b true", "a2 false", "a3 false"]);
  });

  it("refuses a group that has too many waiting", async () => {
    const thread = new SchemaThread();
    // The first one is not waiting.
    const accepted = Array.from({ length: 33 }, () => thread.compile('{ "type": "null" }', "a"));
    expect(() => thread.compile('{ "type": "null" }', "a")).toThrow(GrammarLimitError);
    const other = thread.compile('{ "type": "null" }', "b");
    for (const outcome of await Promise.all([...accepted, other]))
      expect(outcome).toHaveProperty("compiled");
  });
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
