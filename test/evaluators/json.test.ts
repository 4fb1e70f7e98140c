/** Structured output. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { json, type JsonOptions } from "../../src/evaluators/index.ts";
import { episodeOf, taskOf } from "./episode-of.ts";
import { processorClock } from "../processor-time.ts";

const answer = { name: "Ann", age: 30, tags: ["a", "b"], home: { city: "Rome" } };
const good = JSON.stringify(answer);
const score = (text: unknown, options: JsonOptions<Record<string, unknown>> = {}) =>
  json(options)(taskOf({ answer }), episodeOf(text));

describe("json", () => {
  it.each([
    ["the same", good, 1],
    ["another order of keys", '{"age":30,"home":{"city":"Rome"},"tags":["a","b"],"name":"Ann"}', 1],
    ["a fenced block", `Here:\n\`\`\`json\n${good}\n\`\`\`\nDone.`, 1],
    ["an object", answer, 1],
    ["another order of items", good.replace('"a","b"', '"b","a"'), 0],
    ["another value", good.replace("30", "31"), 0],
    ["one key more", good.replace("}}", '},"x":1}'), 0],
    ["no JSON", "Ann", 0],
    ["words around it", `Sure! ${good}`, 0],
    ["nothing", "", 0],
  ])("%s", (_name, text, reward) => {
    expect(score(text).reward).toBe(reward);
  });

  it("gives partial credit by field", () => {
    const fields = ["name", "age", "tags.1", "home.city"];
    const text = good.replace("30", "31");
    expect(score(text, { fields })).toMatchObject({ reward: 0, metadata: { wrong: ["age"] } });
    const result = score(text, { fields, partial: true });
    expect(result).toMatchObject({ reward: 0.75, isCorrect: false });
    expect(result.signals).toEqual([
      { name: "valid_json", value: 1 },
      { name: "schema", value: 1 },
      { name: "fields", value: 0.75 },
    ]);
  });

  it("compares a field as a function says", () => {
    const fields = { age: (a: unknown, b: unknown) => Math.abs(Number(a) - Number(b)) <= 1 };
    expect(score('{"age":31}', { fields }).reward).toBe(1);
    expect(score('{"age":"x"}', { fields }).reward).toBe(0);
    expect(score("{}", { fields: { age: () => Number.NaN }, partial: true }).reward).toBe(0);
  });

  const schemas: readonly [string, NonNullable<JsonOptions<Record<string, unknown>>["schema"]>][] =
    [
      ["zod", z.object({ name: z.string(), age: z.int().min(0) })],
      [
        "JSON Schema",
        {
          type: "object",
          properties: { name: { type: "string" }, age: { type: "integer", minimum: 0 } },
          required: ["name", "age"],
        },
      ],
    ];
  it.each(schemas)("checks a schema of %s", (_name, schema) => {
    expect(score('{"name":"x","age":1}', { schema }).reward).toBe(1);
    expect(score('{"name":"x","age":-1}', { schema }).reward).toBe(0);
    const result = score('{"name":"x"}', { schema });
    expect(result).toMatchObject({
      reward: 0,
      metadata: { reason: expect.stringMatching(/^age: /u) as string },
    });
    expect(score('{"name":"Ann","age":31}', { schema, fields: ["age"] }).reward).toBe(0);
    expect(score('{"name":"x","age":30}', { schema, fields: ["age"] }).reward).toBe(1);
  });

  it("runs the patterns of a JSON Schema in linear time", () => {
    const schema = {
      type: "object",
      properties: { codes: { type: "array", items: { type: "string", pattern: "^(a+)+$" } } },
    };
    expect(score('{"codes":["aa","a"]}', { schema }).reward).toBe(1);
    const seconds = processorClock();
    expect(score(`{"codes":["aa","${"a".repeat(50_000)}!"]}`, { schema }).reward).toBe(0);
    expect(seconds()).toBeLessThan(5);
  });

  it("has properties named like keywords", () => {
    const schema = { type: "object", properties: { pattern: { type: "string", pattern: "^x" } } };
    expect(score('{"pattern":"xy"}', { schema }).reward).toBe(1);
    expect(score('{"pattern":"y"}', { schema }).reward).toBe(0);
  });

  it.each([
    [
      { properties: { a: { type: "string", pattern: "(?=x)" } } },
      '#/properties/a: pattern "(?=x)"',
    ],
    [{ $dynamicRef: "#a" }, "#: $dynamicRef"],
    [{ items: { format: "iri" } }, '#/items: format "iri"'],
    [{ $ref: "https://example.com/x" }, "#: $ref"],
    [{ type: "strin" }, '#: "strin" is not a type'],
    [{ minimum: "1" }, "#: minimum must be a number"],
  ])("refuses %j by name", (schema, reason) => {
    expect(() => json({ schema })).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        message: expect.stringContaining(reason) as string,
      }),
    );
  });

  it.each([
    [{ type: "object", required: ["b"] }, ['{"b":1}'], ["{}"]],
    [{ minimum: 3 }, ["3", '"x"'], ["2"]],
    [{ maxLength: 2 }, ['"ab"', "12345"], ['"abc"']],
    [{ required: ["a"] }, ['{"a":1}', "1"], ["{}"]],
    [{ const: { a: [1, { b: 2 }] } }, ['{"a":[1,{"b":2}]}'], ['{"a":[1]}', "{}"]],
    [{ enum: [{ x: 1, y: 2 }, [3]] }, ['{"y":2,"x":1}', "[3.0]"], ["[4]"]],
    [{ type: "integer" }, ["9007199254740993", "1.0", "1e30"], ["1.5"]],
    [{ const: Number("9007199254740993") }, ["9007199254740993"], ["9007199254740995"]],
    [{ patternProperties: { "^(a+)+$": { type: "null" } } }, ['{"aa":null,"b":1}'], ['{"a":1}']],
    [{ anyOf: [{ pattern: "^\\bx" }, { type: "null" }] }, ['"x"', "null"], ['"y"']],
    [
      JSON.parse('{"if":{"type":"string"},"then":{"minLength":1}}') as Record<string, unknown>,
      ['"a"', "0"],
      ['""'],
    ],
  ])("%j decides as JSON Schema does", (schema, valid, invalid) => {
    for (const text of valid) expect([text, score(text, { schema }).reward]).toEqual([text, 1]);
    for (const text of invalid) expect([text, score(text, { schema }).reward]).toEqual([text, 0]);
  });

  it("gives up on a check without end, and says so", () => {
    const schema = { $defs: { a: { anyOf: [{ $ref: "#/$defs/a" }] } }, $ref: "#/$defs/a" };
    const { reward, metadata } = score("1", { schema });
    expect(reward).toBe(0);
    expect(metadata).toMatchObject({ reason: expect.stringContaining("400 schemas") as string });
  });

  it.each([
    ["depth", `${"[".repeat(50_000)}${"]".repeat(50_000)}`, "64 levels"],
    ["size", `[${"1,".repeat(40_000)}1]`, "20000 values"],
  ])("limits the %s", (_name, text, reason) => {
    expect(score(text)).toMatchObject({
      reward: 0,
      metadata: { reason: expect.stringContaining(reason) as string },
    });
  });

  it("does not take inherited properties for fields", () => {
    expect(score("{}", { fields: ["constructor"], partial: true }).reward).toBe(1);
    const evaluate = json({ fields: ["__proto__.x"], answer: () => ({}) });
    expect(evaluate(taskOf({}), episodeOf('{"__proto__":{"x":1}}')).reward).toBe(0);
  });

  it("needs a reference where it compares", () => {
    expect(() => json()(taskOf({}), episodeOf("{}"))).toThrow(/no reference/u);
  });
});
