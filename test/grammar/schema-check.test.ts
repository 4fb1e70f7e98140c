/**
 * Checks of values under schemas: for each keyword a few values by hand, from the text of JSON Schema 2020-12.
 * The cases of JSON-Schema-Test-Suite are in `test/integration/json-schema/`.
 */
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/core/message.ts";
import {
  patternTest,
  type PatternTest,
  supportedPatternTest,
} from "../../src/grammar/check/pattern-test.ts";
import { SchemaCheck } from "../../src/grammar/check/schema-check.ts";
import { compileSchema } from "../../src/grammar/schema/compile-schema.ts";
import { GrammarLimitError, type WorkBudget } from "../../src/grammar/work-budget.ts";

type Case = readonly [
  schema: JsonValue,
  valid: readonly JsonValue[],
  invalid: readonly JsonValue[],
];

const tree = {
  $defs: {
    node: {
      type: "object",
      required: ["value"],
      properties: { value: { type: "integer" }, next: { $ref: "#/$defs/node" } },
    },
  },
  $ref: "#/$defs/node",
};

const cases: Readonly<Record<string, Case>> = {
  "boolean schemas": [true, [1, null, {}], []],
  "the schema false": [false, [], [1, null, {}]],
  type: [{ type: ["integer", "null"] }, [1, 1.0, -0, null], [1.5, "1", [], {}, false]],
  "integers beyond 2^53": [
    { type: "integer" },
    [JSON.parse("9007199254740993") as number, 1e300],
    [0.5],
  ],
  "enum of objects": [
    { enum: [{ a: [1, { b: null }] }, 6] },
    [{ a: [1, { b: null }] }, 6],
    [{ a: [1] }, "6"],
  ],
  "const of an object": [
    { const: { a: 1, b: 2 } },
    [{ b: 2, a: 1 }],
    [{ a: 1 }, { a: 1, b: 2, c: 3 }],
  ],
  "const 1 is not true": [{ const: 1 }, [1, 1.0], [true, "1"]],
  "required without type": [{ required: ["b"] }, [{ b: null }, "text", 3, ["b"]], [{}, { a: 1 }]],
  "minimum without type": [{ minimum: 3 }, [3, 4.5, "2", null], [2.9, -1]],
  exclusiveMinimum: [{ exclusiveMinimum: 3 }, [3.1], [3]],
  exclusiveMaximum: [{ exclusiveMaximum: 3 }, [2.9], [3]],
  multipleOf: [{ multipleOf: 0.01 }, [4.02, 0, 1e10], [0.0075, 35.123]],
  "maxLength without type, by characters": [
    { maxLength: 2 },
    ["🙂🙂", "ab", 100],
    ["abc", "🙂🙂🙂"],
  ],
  minLength: [{ minLength: 2 }, ["ab", 1], ["a", "🙂"]],
  "pattern, anywhere": [{ pattern: "b+c" }, ["abbcd", 5], ["ac"]],
  items: [{ items: { type: "number" } }, [[], [1, 2.5], "x"], [[1, "2"]]],
  prefixItems: [{ prefixItems: [{ type: "string" }], items: false }, [["a"], []], [["a", 1], [1]]],
  "minItems and maxItems": [{ minItems: 1, maxItems: 2 }, [[1], [1, 2], {}], [[], [1, 2, 3]]],
  uniqueItems: [
    { uniqueItems: true },
    [
      [1, true, "1"],
      [{ a: 1 }, { a: 2 }],
    ],
    [
      [1, 1.0],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
  ],
  contains: [
    { contains: { const: 1 }, minContains: 2, maxContains: 3 },
    [[1, 2, 1]],
    [[1], [1, 1, 1, 1]],
  ],
  "minContains of 0": [{ contains: { const: 1 }, minContains: 0 }, [[], [2]], []],
  properties: [{ properties: { a: { type: "string" } } }, [{ a: "x", b: 1 }, []], [{ a: 1 }]],
  "the property __proto__": [
    { properties: { ["__proto__"]: { type: "number" } }, required: ["toString"] },
    [],
    [{}],
  ],
  additionalProperties: [
    { properties: { a: {} }, patternProperties: { "^x": {} }, additionalProperties: false },
    [{ a: 1, xy: 2 }],
    [{ b: 1 }],
  ],
  patternProperties: [
    { patternProperties: { "^n": { type: "number" } } },
    [{ n1: 1, a: "b" }],
    [{ n1: "1" }],
  ],
  propertyNames: [{ propertyNames: { maxLength: 2 } }, [{ ab: 1 }], [{ abc: 1 }]],
  "minProperties and maxProperties": [
    { minProperties: 1, maxProperties: 2 },
    [{ a: 1 }, { a: 1, b: 2 }, []],
    [{}, { a: 1, b: 2, c: 3 }],
  ],
  dependentRequired: [
    { dependentRequired: { a: ["b"] } },
    [{}, { b: 1 }, { a: 1, b: 2 }],
    [{ a: 1 }],
  ],
  dependentSchemas: [
    { dependentSchemas: { a: { maxProperties: 1 } } },
    [{ a: 1 }, { b: 1, c: 2 }],
    [{ a: 1, b: 2 }],
  ],
  allOf: [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2], [0, 3]],
  anyOf: [{ anyOf: [{ type: "string" }, { minimum: 2 }] }, ["x", 2, null], [1]],
  oneOf: [{ oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, [2, 3], [6, 7]],
  not: [{ not: { type: "string" } }, [1], ["x"]],
  "if, then, else": [
    JSON.parse(
      '{ "if": { "minimum": 10 }, "then": { "multipleOf": 5 }, "else": { "maximum": 3 } }',
    ) as JsonValue,
    [10, 3, 15],
    [11, 4],
  ],
  "a $ref to itself": [
    tree,
    [{ value: 1, next: { value: 2, next: { value: 3 } } }],
    [{ value: 1, next: {} }, {}],
  ],
  "a $ref beside other keywords": [
    { $defs: { a: { type: "number" } }, $ref: "#/$defs/a", minimum: 2 },
    [2],
    [1, "2"],
  ],
  "a $ref with escapes": [
    { $defs: { "a/b~c%": { const: 1 } }, $ref: "#/$defs/a~1b~0c%25" },
    [1],
    [2],
  ],
  unevaluatedProperties: [
    { allOf: [{ properties: { a: {} } }], properties: { b: {} }, unevaluatedProperties: false },
    [{ a: 1, b: 2 }],
    [{ c: 1 }],
  ],
  unevaluatedItems: [
    {
      prefixItems: [{}],
      anyOf: [{ prefixItems: [{}, { const: 1 }] }, {}],
      unevaluatedItems: false,
    },
    [[0], [0, 1]],
    [[0, 2]],
  ],
  "format date": [{ format: "date" }, ["2024-02-29", 5], ["2023-02-29", "2024-2-1"]],
  "format date-time": [
    { format: "date-time" },
    ["2024-02-29T23:59:60Z", "1990-12-31t15:59:00.5-08:00"],
    ["2024-01-01T24:00:00Z", "2024-01-01"],
  ],
  "format uuid": [
    { format: "uuid" },
    ["2EB8AA08-aa98-11ea-b4aa-73b441d16380"],
    ["2eb8aa08-aa98-11ea-b4aa73b441d16380"],
  ],
  "format ipv4": [{ format: "ipv4" }, ["127.0.0.1"], ["256.0.0.1", "0127.0.0.1", "1.2.3"]],
  "format ipv6": [{ format: "ipv6" }, ["::1", "1::8"], ["12345::", "1::2::3"]],
  "format email": [{ format: "email" }, ["joe@example.com"], ["2962"]],
};

describe("values under", () => {
  it.each(Object.entries(cases))("%s", (_name, [schema, valid, invalid]) => {
    const check = new SchemaCheck(schema, { steps: 300_000, pattern: patternTest });
    const judged = [...valid, ...invalid].map((value) => [value, check.problem(value) === null]);
    expect(judged).toEqual([
      ...valid.map((value) => [value, true]),
      ...invalid.map((value) => [value, false]),
    ]);
  });

  it.each([
    [{ $dynamicRef: "#a" }, /\$dynamicRef is not supported/u],
    [{ $ref: "https://example.com/a" }, /does not point into the schema itself/u],
    [{ $ref: "#/$defs/none" }, /points at nothing/u],
    [{ format: "uri-template" }, /format "uri-template" is not supported/u],
    [{ pattern: "(?=a)" }, /in patterns is not supported/u],
  ])("%j are refused by name", (schema, message) => {
    expect(() => new SchemaCheck(schema, { steps: 300_000, pattern: patternTest })).toThrow(
      message,
    );
  });

  it("are checked where the compiler reached no pattern that is not supported", () => {
    const number = { allOf: [{ type: "integer" }, { pattern: "\\p{L}" }] };
    const schema = { anyOf: [{ type: "string", pattern: "^a$" }, number] };
    expect(compileSchema(schema).unenforced).toEqual([]);
    const check = new SchemaCheck(schema, { steps: 300_000, pattern: supportedPatternTest });
    const valid = [1, "a", 1.5, "b"].map((value) => check.problem(value) === null);
    expect(valid).toEqual([true, true, false, false]);
  });

  it("are refused for what reading them takes, also in patterns that are not supported", () => {
    // Each has more states than a pattern may have, which is found after as many.
    const patterns = Array.from({ length: 20 }, (_, i) => `((a{0,30}){0,30}){0,30}${i}`);
    const schema = { allOf: patterns.map((source) => ({ pattern: source })) };
    const states: number[] = [];
    const pattern = (source: string, budget: WorkBudget): PatternTest => {
      try {
        return patternTest(source, budget);
      } catch (error) {
        states.push(budget.spent);
        if (error instanceof GrammarLimitError) throw error;
        return () => true;
      }
    };
    expect(() => new SchemaCheck(schema, { steps: 100_000, pattern, anyFormat: true })).toThrow(
      GrammarLimitError,
    );
    expect(states).toHaveLength(2);
  });
});
