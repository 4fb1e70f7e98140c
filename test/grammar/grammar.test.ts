/**
 * Grammars against the validator ajv: what random walks write under fifty schemas is valid, and what is
 * near to valid is decided as ajv decides.
 */
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, it } from "vitest";
import { schemas } from "../../benchmarks/structured/schemas.ts";
import type { Grammar } from "../../src/core/grammar.ts";
import type { JsonValue } from "../../src/core/message.ts";
import { compileGrammar } from "../../src/grammar/compile-grammar.ts";
import { Configurations } from "../../src/grammar/configurations.ts";
import { compileSchema } from "../../src/grammar/schema/compile-schema.ts";
import { isAllowed, TokenGrammar, TokenMatcher } from "../../src/grammar/token-masks.ts";
import { formatPatterns } from "../../src/grammar/schema/formats.ts";
import { patternLanguage } from "../../src/grammar/strings/regex.ts";
import { includes } from "../../src/grammar/strings/language.ts";
import { byteVocabulary, walk } from "./byte-vocabulary.ts";

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

const vocabulary = byteVocabulary([
  '{"',
  '":',
  '", "',
  "true",
  "null",
  "12",
  "00",
  "ab",
  '"}',
  "]}",
  "\\u00",
  "é",
  "-",
]);
describe("texts of a schema", () => {
  it.each(schemas.map((schema, i) => [i, schema] as const))("schema %i: are valid", (i, schema) => {
    const { unenforced } = compileSchema(schema);
    expect(unenforced).toEqual([]);
    const validate = ajv.compile(schema as object);
    const grammar = new TokenGrammar({ type: "json", schema }, vocabulary);
    for (let seed = 0; seed < 2; seed++) {
      const { text, ended } = walk(grammar, 100 * i + seed, 700);
      expect([text, ended]).toEqual([text, true]);
      expect([text, validate(JSON.parse(text))]).toEqual([text, true]);
    }
  });

  it("end within any limit that the shortest of them fits", () => {
    const schema = schemas.at(-1)!;
    const grammar = new TokenGrammar({ type: "json", schema }, vocabulary);
    const { text, ended } = walk(grammar, 3, grammar.start.distance + 1);
    expect(ended).toBe(true);
    expect(ajv.validate(schema as object, JSON.parse(text))).toBe(true);
  });
});

const accepts = (grammar: Grammar, text: string): boolean => {
  const configurations = new Configurations(compileGrammar(grammar));
  let at: ReturnType<typeof configurations.step> = configurations.start;
  for (const byte of Buffer.from(text)) at = at && configurations.step(at, byte);
  return at?.accepts ?? false;
};

describe("numbers of properties", () => {
  const letter: JsonValue = { pattern: "^[a-d]$" };
  const named = { a: { const: 1 }, b: { const: 2 } };
  const others = { type: "object", propertyNames: letter, additionalProperties: { const: 3 } };
  const counted: readonly Record<string, JsonValue>[] = [
    { ...others, minProperties: 1, maxProperties: 2 },
    { ...others, minProperties: 1 },
    { ...others, properties: named, minProperties: 2, maxProperties: 3 },
    { ...others, properties: named, required: ["b"], minProperties: 2, maxProperties: 2 },
    { ...others, properties: named, minProperties: 3, maxProperties: 3 },
    { type: "object", properties: named, minProperties: 1, maxProperties: 1 },
  ];
  it.each(counted)("%j: are kept", (schema) => {
    expect(compileSchema(schema).unenforced).toEqual([]);
    const validate = ajv.compile(schema);
    const grammar = new TokenGrammar({ type: "json", schema }, vocabulary);
    for (let seed = 0; seed < 60; seed++) {
      const { text, ended } = walk(grammar, seed, 300);
      expect([text, ended && validate(JSON.parse(text))]).toEqual([text, true]);
    }
  });

  it("a minimum that names which come twice may break is named, and the maximum is kept", () => {
    const schema: JsonValue = { ...others, minProperties: 3, maxProperties: 3 };
    expect(compileSchema(schema).unenforced).toEqual([
      "#: minProperties next to properties of any name",
    ]);
    const grammar = new TokenGrammar({ type: "json", schema }, vocabulary);
    for (let seed = 0; seed < 20; seed++) {
      const { text, ended } = walk(grammar, seed, 300);
      expect([text, ended, text.split(":").length - 1]).toEqual([text, true, 3]);
    }
  });
});

describe("dates", () => {
  it.each(["date", "date-time"])("%s: every day of the calendar, and no other", (format) => {
    const validate = ajv.compile({ type: "string", format });
    const language = patternLanguage(formatPatterns[format]!);
    for (const year of ["0000", "1900", "2000", "2023", "2024", "2100", "9996"]) {
      for (let day = 0; day < 13 * 33; day++) {
        const month = String(Math.floor(day / 33)).padStart(2, "0");
        const date = `${year}-${month}-${String(day % 33).padStart(2, "0")}`;
        const text = format === "date" ? date : `${date}T12:00:00Z`;
        expect([text, includes(language, text)]).toEqual([text, validate(text)]);
      }
    }
  });
});

it("emails stay within 64 characters before the sign, and 63 in a label", () => {
  const language = patternLanguage(formatPatterns["email"]!);
  const part = "a".repeat(20);
  expect(includes(language, `${part}.${part}.${part}@x.com`)).toBe(true);
  expect(includes(language, `${part}a@x.com`)).toBe(false);
  expect(includes(language, `${part}.${part}.${part}.a@x.com`)).toBe(false);
  expect(includes(language, `a@${"b".repeat(24)}-${"c".repeat(24)}.com`)).toBe(true);
  expect(includes(language, `a@${"b".repeat(64)}.com`)).toBe(false);
});

it.each<JsonValue>([
  false,
  { type: "string", pattern: "a.{12}b", maxLength: 5 },
  { enum: [1, 2], type: "string" },
  { type: "object", properties: { a: false }, required: ["a"] },
])("refuses %j, under which no value is valid", (schema) => {
  expect(() => compileSchema(schema)).toThrow("no value is valid");
});

describe("numbers", () => {
  const numbers = [
    0, 1, 2, 5, 7, 9, 10, 12, 99, 100, 101, 0.1, 0.25, 0.26, 0.3, 0.375, 0.376, 12.5, 12.51, 7.0,
  ];
  const values = [...numbers, ...numbers.map((value) => (value === 0 ? 0 : -value))];
  const bounded: readonly JsonValue[] = [
    { type: "number", minimum: 0.25, maximum: 12.5 },
    { type: "number", exclusiveMinimum: 0.25, exclusiveMaximum: 12.5 },
    { type: "number", minimum: -10, exclusiveMaximum: 0 },
    { type: "number", exclusiveMinimum: -0.3, maximum: 100 },
    { type: "integer", minimum: -10, maximum: 99 },
    { type: "integer", exclusiveMinimum: 0 },
    { type: "integer", multipleOf: 5 },
    { type: "number", maximum: -7 },
  ];
  it.each(bounded)("%j: as ajv decides", (schema) => {
    const validate = ajv.compile(schema as object);
    for (const value of values) {
      const text = JSON.stringify(value);
      expect([text, accepts({ type: "json", schema }, text)]).toEqual([text, validate(value)]);
    }
  });
});

describe("patterns", () => {
  const texts = [
    "",
    "a",
    "b",
    "ab",
    "ba",
    "aab",
    "abab",
    "a\n",
    "0",
    "9a",
    "Ä",
    "a-b",
    "x.y",
    "]",
    "^",
    "aaa",
    "éa",
    "😀",
    "a😀",
  ];
  it.each([
    "a",
    "^a",
    "b$",
    "^(ab)*$",
    "^[^a]",
    "a|b$",
    "^a?b{1,2}$",
    "\\d",
    "^\\w+$",
    "^.$",
    "x\\.y",
    "[\\]^]",
    "^(?:a|é)+$",
    "a{2,}",
    "^$",
    "(^a|b$)",
    "\\u{1F600}",
    "\\uD83D\\uDE00",
    "^[\\uD83D\\uDE00a]+$",
    "[\\u{1F000}-\\u{10FFFF}]",
  ])("%s: as JavaScript decides", (pattern) => {
    const own = new RegExp(pattern, "u");
    for (const text of texts)
      expect([text, includes(patternLanguage(pattern), text)]).toEqual([text, own.test(text)]);
  });

  it.each(["\\u{FFFFFFFF}", "[\\u{110000}-\\u{110001}]", "a\\u{200000}*"])(
    "%s is beyond Unicode, and told to be left out",
    (pattern) => {
      expect(() => patternLanguage(pattern)).toThrow(SyntaxError);
      const { unenforced } = compileSchema({ type: "string", pattern });
      expect(unenforced).toEqual([expect.stringContaining("pattern")]);
    },
  );

  it.each(["(?=a)", "(a)\\1", "\\p{L}", "\\bword"])("%s is told to be left out", (pattern) => {
    const { unenforced } = compileSchema({ type: "string", pattern });
    expect(unenforced).toEqual([expect.stringContaining("pattern")]);
  });
});

describe("masks", () => {
  const calls: Grammar = {
    type: "sequence",
    parts: [
      { type: "text", without: ["<call>"] },
      { type: "tag", text: "<call>" },
      { type: "json", schema: { enum: [1, 12] } },
    ],
  };

  it("have an added token for a tag, and never its text", () => {
    const own = byteVocabulary(["<ca", "ll>", "<call>"], ["<call>"]);
    const grammar = new TokenGrammar(calls, own);
    const matcher = new TokenMatcher(grammar, { stopTokenIds: [], maxTokens: 99 });
    const tag = own.added.get("<call>")!;
    expect(isAllowed(matcher.mask()!, tag)).toBe(true);
    expect(isAllowed(matcher.mask()!, 258)).toBe(false);
    matcher.accept(256);
    expect(isAllowed(matcher.mask()!, 257)).toBe(false);
    matcher.accept(tag);
    expect(matcher.mask()).toMatchObject({ count: 1, first: "1".codePointAt(0) });
  });

  describe("where the limit is near", () => {
    const answerOrCall: Grammar = {
      type: "choice",
      options: [
        { type: "json", schema: { const: 7 } },
        {
          type: "sequence",
          parts: [
            { type: "tag", text: "<call>" },
            { type: "json", schema: { const: { name: "get_order", arguments: {} } } },
          ],
        },
      ],
    };
    const own = byteVocabulary(['{"name":', '"get_', 'order"', ',"arguments"', ":{}"], ["<call>"]);
    const call = own.added.get("<call>")!;
    const [end, brace] = [own.added.get("<end>")!, "}".codePointAt(0)!];
    const grammar = new TokenGrammar(answerOrCall, own);
    const start = (maxTokens: number): TokenMatcher =>
      new TokenMatcher(grammar, { stopTokenIds: [end], maxTokens });

    it("count tokens, not bytes: a call of 35 bytes is there from the number of its tokens on", () => {
      // <call>, five words, "}" and <end>.
      expect(isAllowed(start(7).mask()!, call)).toBe(false);
      expect(isAllowed(start(8).mask()!, call)).toBe(true);
    });

    it("say what would exclude nothing, and are never without a token on the way", () => {
      expect([2, 7, 8, 99].map((max) => start(max).neededTokens)).toEqual([8, 8, null, null]);
      const matcher = start(8);
      for (const token of [call, 256, 257, 258, 259, 260, brace, end]) {
        const mask = matcher.mask()!;
        expect([token, isAllowed(mask, token), mask.count]).toEqual([
          ...[token, true, token === call ? 2 : 1],
        ]);
        matcher.accept(token);
      }
    });

    it("say the first limit at which a text may begin, also where its first token has several bytes", () => {
      const words = ['{"name"', ':"get_order"', '"name"'];
      const schema = { enum: [7, { name: "get_order" }] };
      const named = byteVocabulary(words);
      const stopTokenIds = [named.added.get("<end>")!];
      const either = new TokenGrammar({ type: "json", schema }, named);
      const begins = (maxTokens: number): [boolean, number | null] => {
        const matcher = new TokenMatcher(either, { stopTokenIds, maxTokens });
        const mask = matcher.mask()!;
        const isOpen = [256, "{".codePointAt(0)!].some((token) => isAllowed(mask, token));
        return [isOpen, matcher.neededTokens];
      };
      // {"name" :"get_order" } and <end>.
      expect([2, 3, 4, 5, 99].map(begins)).toEqual([
        [false, 4],
        [false, 4],
        [true, null],
        [true, null],
        [true, null],
      ]);
    });

    it("every walk within any limit ends where the shortest text fits", () => {
      const schema = {
        type: "object",
        properties: {
          order: { type: "string" },
          tags: { type: "array", items: { enum: [1, 23] } },
        },
        required: ["order", "tags"],
      } as const;
      const words = ['{"order"', ':"', '","tags"', ":[", "]}", '"order":""', '"tags":[]'];
      const object = new TokenGrammar({ type: "json", schema }, byteVocabulary(words));
      // {"order" : "" , "tags":[] } and <end>, of which ':"' and '","tags"' make one fewer.
      const ended = (maxTokens: number): number =>
        Array.from({ length: 40 }, (_, seed) => walk(object, seed, maxTokens)).filter((one) => {
          if (one.ended) expect(JSON.parse(one.text)).toMatchObject({ order: expect.any(String) });
          return one.ended;
        }).length;
      expect([6, 7, 8, 12, 30].map(ended)).toEqual([40, 40, 40, 40, 40]);
      expect(ended(5)).toBe(0);
    });
  });

  it("are the same after everything was forgotten", () => {
    const schema: JsonValue = { type: "object" };
    const fresh = walk(new TokenGrammar({ type: "json", schema }, vocabulary), 5, 300);
    const used = new TokenGrammar({ type: "json", schema }, vocabulary);
    for (let seed = 0; seed < 40; seed++) walk(used, seed, 300);
    expect(walk(used, 5, 300)).toEqual(fresh);
  });

  it("a keyword that cannot be enforced is named with its place", () => {
    const schema: JsonValue = {
      type: "object",
      properties: { a: { type: "array", uniqueItems: true } },
    };
    expect(compileSchema(schema).unenforced).toEqual(['#/properties/a: the keyword "uniqueItems"']);
  });

  it.each<[string, JsonValue]>([
    ["points at nothing", { $ref: "#/$defs/x" }],
    ["without end", { $ref: "#" }],
    ["not a type", { type: "strin" }],
    ["must be a list", { anyOf: {} }],
  ])("a schema that is none is refused: %s", (message, schema) => {
    expect(() => compileSchema(schema)).toThrow(message);
  });
});
