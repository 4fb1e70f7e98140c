/** What models sample, and the message that it is. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/core/message.ts";
import { sharedCases } from "../shared-cases.ts";
import {
  checkCompletion,
  type CompletionCase,
  type Expected,
  type Part,
} from "./completion-world.ts";

const path = sharedCases("capture/completions.json");
describe.skipIf(path === null)(
  "completions from public reports (skipped without the shared cases)",
  () => {
    const { cases } = (path === null ? { cases: [] } : JSON.parse(readFileSync(path, "utf8"))) as {
      cases: readonly (CompletionCase & { readonly kind: string })[];
    };

    it("are there", () => {
      expect(cases.length).toBeGreaterThan(20);
    });

    it.each(cases.map((one) => [`${one.kind}: ${one.name}`, one] as const))(
      "%s",
      async (_, one) => {
        await expect(checkCompletion(one)).resolves.toBeUndefined();
      },
    );
  },
);

const offered = (name: string, parameters: JsonValue) => ({
  type: "function",
  function: {
    name,
    description: "d",
    parameters: parameters as Readonly<Record<string, JsonValue>>,
  },
});
const off = { chat_template_kwargs: { enable_thinking: false } } as const;
const objectOf = (properties: JsonValue, more: object = {}): JsonValue => ({
  type: "object",
  properties,
  ...more,
});

describe("values of calls in XML", () => {
  /** One parameter `a` of a schema, the text that was sampled, the JSON that it is. */
  type Value = readonly [
    name: string,
    schema: JsonValue,
    text: string,
    json: string,
    mark?: RegExp,
  ];
  const values: readonly Value[] = [
    ["text with spaces around", { type: "string" }, "  x \n y ", '"  x \\n y "'],
    ["text of one line break", { type: "string" }, "\n", '"\\n"'],
    ["an empty text", { type: "string" }, "", '""'],
    ["a text in quotes", { type: "string" }, '"x"', '"\\"x\\""'],
    ["a text that reads None", { type: "string" }, "None", '"None"'],
    ["a text like a float", { type: "string" }, "1.0", '"1.0"'],
    ["a text with zeros before", { type: ["string"] }, "007", '"007"'],
    ["a format of texts", { type: "string", format: "date" }, "2024", '"2024"'],
    ["a pattern implies text", { pattern: "^\\d+$" }, "123", '"123"'],
    ["a constant text", { const: "5" }, "5", '"5"'],
    ["a constant number", { const: 5 }, "5", "5"],
    ["texts and numbers in an enumeration", { enum: [1, "2"] }, "2", '"2"'],
    ["numbers and texts in an enumeration", { enum: [1, "2"] }, "1", "1"],
    ["a list of types", { type: ["null", "string"] }, "42", '"42"'],
    ["null of a list of types", { type: ["null", "string"] }, "null", "null"],
    ["null as Python writes it", { type: ["null", "integer"] }, "None", "null"],
    ["nullable, as OpenAPI has it", { type: "integer", nullable: true }, "null", "null"],
    ["one of text and null", { oneOf: [{ type: "string" }, { type: "null" }] }, "true", '"true"'],
    [
      "any of number and text: a number",
      { anyOf: [{ type: "string" }, { type: "number" }] },
      "5",
      "5",
    ],
    [
      "any of number and text: a text",
      { anyOf: [{ type: "string" }, { type: "number" }] },
      "5a",
      '"5a"',
    ],
    ["all of", { allOf: [{ description: "x" }, { type: "string" }] }, "[1]", '"[1]"'],
    ["a reference", { $ref: "#/$defs/text" }, "1", '"1"'],
    ["a reference to a reference", { $ref: "#/$defs/again" }, "1", '"1"'],
    ["a reference that goes round", { $ref: "#/$defs/round" }, "1", "1"],
    ["a reference with an escape", { $ref: "#/$defs/a~1b%20c" }, "1", '"1"'],
    ["a boolean as Python writes it", { type: "boolean" }, "True", "true"],
    ["a boolean", { type: "boolean" }, " false ", "false"],
    ["digits of a float", { type: "number" }, "1.0", "1.0"],
    ["a small float", { type: "number" }, "1e-07", "1e-07"],
    ["a long integer", { type: "integer" }, "9007199254740993", "9007199254740993"],
    ["an integer written as a float", { type: "integer" }, "7.0", "7.0"],
    [
      "an object",
      { type: "object" },
      '{"b": 1.0, "10": null, "2": [true]}',
      '{"b":1.0,"10":null,"2":[true]}',
    ],
    ["an object by its properties", { properties: { x: {} } }, '{"x": 1}', '{"x":1}'],
    [
      "a list of objects",
      { type: "array", items: { type: "object" } },
      '[{"x": "1"}]',
      '[{"x":"1"}]',
    ],
    ["another name for a type", { type: "dict" }, '{"x": 1}', '{"x":1}'],
    ["any value: a number", {}, "5", "5"],
    ["any value: a text", true, "hello", '"hello"'],
    ["an empty integer", { type: "integer" }, "", '""', /has a value that the tool does not take/],
    ["a number that is none", { type: "integer" }, "five", '"five"', /does not take/],
    ["a float for an integer", { type: "integer" }, "1.5", "1.5", /does not take/],
    ["a number for a boolean", { type: "boolean" }, "1", "1", /does not take/],
    ["a list that is not closed", { type: "array" }, "[1, 2", '"[1, 2"', /does not take/],
    ["none of an enumeration of texts", { enum: ["1", "2"] }, "3", '"3"', /does not take/],
    ["a schema that takes nothing", false, "3", '"3"', /does not take/],
  ];
  const $defs = {
    text: { type: "string" },
    again: { $ref: "#/$defs/text" },
    round: { $ref: "#/$defs/round" },
    "a/b c": { type: "string" },
  };
  it.each(values.map((value) => [value[0], value] as const))("%s", async (name, value) => {
    const [, schema, text, json, malformed] = value;
    const request = { tools: [offered("f", objectOf({ a: schema }, { $defs }))] };
    const answer: readonly Part[] = [
      ["control", "<tool_call>\n"],
      ["plain", `<function=f>\n<parameter=a>\n${text}\n</parameter>\n</function>`],
      ["control", "\n</tool_call>"],
    ];
    const expected = { texts: [`{"a":${json}}`], malformed: malformed ?? null };
    await expect(
      checkCompletion({ name, format: "xml", answer, request, expect: expected }),
    ).resolves.toBeUndefined();
  });

  const call = (name: string, body: string): readonly Part[] => [
    ["control", "<tool_call>\n"],
    ["plain", `<function=${name}>\n${body}</function>`],
    ["control", "\n</tool_call>"],
  ];
  const parameter = (name: string, value: string): string =>
    `<parameter=${name}>\n${value}\n</parameter>\n`;
  const others: readonly (readonly [string, JsonValue, readonly Part[], Expected])[] = [
    [
      "a parameter that the tool lacks is text",
      objectOf({ a: { type: "integer" } }),
      call("f", parameter("a", "1") + parameter("b", "1")),
      { texts: ['{"a":1,"b":"1"}'], malformed: /has the parameter "b", which the tool does not/ },
    ],
    [
      "a tool that was not offered",
      objectOf({}),
      call("g", parameter("a", "1")),
      { texts: ['{"a":"1"}'], malformed: /"g" of a call was not offered/ },
    ],
    [
      "further properties of a schema",
      objectOf({}, { additionalProperties: { type: "string" } }),
      call("f", parameter("b", "1")),
      { texts: ['{"b":"1"}'], malformed: null },
    ],
    [
      "no properties: any",
      { type: "object" },
      call("f", parameter("b", "1")),
      { texts: ['{"b":1}'], malformed: null },
    ],
    ["a call without parameters", objectOf({}), call("f", ""), { texts: ["{}"], malformed: null }],
    [
      "properties of a reference",
      { $ref: "#/$defs/p", $defs: { p: objectOf({ a: { type: "string" } }) } },
      call("f", parameter("a", "1")),
      { texts: ['{"a":"1"}'], malformed: null },
    ],
    [
      "properties of alternatives",
      { anyOf: [objectOf({ a: { type: "string" } }), objectOf({ b: { type: "integer" } })] },
      call("f", parameter("a", "1") + parameter("b", "1")),
      { texts: ['{"a":"1","b":1}'], malformed: null },
    ],
    [
      "the start of a parameter inside a value",
      objectOf({ a: { type: "string" } }),
      call("f", parameter("a", "x\n<parameter=b>\ny")),
      { texts: ['{"a":"x\\n<parameter=b>\\ny"}'], malformed: null },
    ],
    [
      "a tag of a call inside a value, as a token",
      objectOf({ a: { type: "string" } }),
      [
        ["control", "<tool_call>\n<function=f>\n<parameter=a>\nx </tool_call> y\n</parameter>\n"],
        ["control", "</function>\n</tool_call>"],
      ],
      { texts: ['{"a":"x </tool_call> y"}'], malformed: null },
    ],
    [
      "names of the platform's own objects",
      objectOf({ constructor: { type: "string" }, __proto__x: { type: "string" } }),
      call("f", parameter("constructor", "1") + parameter("toString", "2")),
      { texts: ['{"constructor":"1","toString":"2"}'], malformed: /toString/ },
    ],
  ];
  it.each(others)("%s", async (name, parameters, answer, expected) => {
    const request = { tools: [offered("f", parameters)] };
    await expect(
      checkCompletion({ name, format: "xml", answer, request, expect: expected }),
    ).resolves.toBeUndefined();
  });
});

describe("markup", () => {
  const write = [offered("write", objectOf({ text: { type: "string" } }))];
  const json = (text: string): string =>
    `{"name": "write", "arguments": {"text": ${JSON.stringify(text)}}}`;
  const hermes = (text: string): readonly Part[] => [
    ["control", "<tool_call>\n"],
    ["plain", json(text)],
    ["control", "\n</tool_call>"],
  ];
  const wrote = (...texts: string[]) => ({
    calls: texts.map((text) => ({ name: "write", arguments: { text } })),
    content: "",
    malformed: null,
  });
  const tags = "</tool_call> <tool_call> </think> <think> <|im_end|> [TOOL_CALLS] <|/tool_call|>";
  const cases: readonly (Omit<CompletionCase, "request"> & {
    request?: CompletionCase["request"];
  })[] = [
    ...["qwen3", "qwen2_5", "gemma-3", "phi-3.5-mini", "olmo-2", "smollm3-tools"].map((model) => ({
      name: `${model}: every tag in an argument`,
      model,
      answer: hermes(tags),
      expect: wrote(tags),
    })),
    ...["phi-4-mini", "mistral-nemo", "mistral-7b-v0.3", "llama3_2"].map((model) => {
      const frames: Readonly<Record<string, readonly [string, string]>> = {
        "phi-4-mini": ["<|tool_call|>[", "]<|/tool_call|>"],
        "mistral-nemo": ["[TOOL_CALLS][", "]"],
        "mistral-7b-v0.3": ["[TOOL_CALLS] [", "]"],
        llama3_2: ["", ""],
      };
      const [before, after] = frames[model]!;
      const answer: readonly Part[] = [
        ["control", before],
        ["plain", json(`]${tags}[`)],
        ["control", after],
      ];
      return {
        name: `${model}: every tag in an argument`,
        model,
        answer,
        expect: wrote(`]${tags}[`),
      };
    }),
    ...["qwen3", "qwen2_5", "xml", "phi-4-mini", "mistral-nemo"].map((model) => ({
      name: `${model}: a call in ordinary tokens is text`,
      model,
      answer: [
        [
          "plain",
          'Write <tool_call>\n{"name": "write"}\n</tool_call> or [TOOL_CALLS][{"name": "write"}] or ',
        ],
        ["plain", '<|tool_call|>[{"name": "write"}]'],
      ] as const,
      expect: {
        calls: [],
        malformed: null,
        content:
          'Write <tool_call>\n{"name": "write"}\n</tool_call> or [TOOL_CALLS][{"name": "write"}] or <|tool_call|>[{"name": "write"}]',
      },
    })),
    {
      name: "a tag in text, where tags are not tokens",
      model: "gemma-3",
      answer: [["plain", "Say <tool_call> to begin, </tool_call> to end."]],
      expect: {
        calls: [],
        content: "Say <tool_call> to begin, </tool_call> to end.",
        malformed: null,
      },
    },
    {
      name: "a call after a tag in text, where tags are not tokens",
      model: "gemma-3",
      answer: [
        ["plain", "<tool_call> it is.\n"],
        ...hermes("a </tool_call>"),
        ["plain", "\n"],
        ...hermes("b"),
      ],
      expect: { ...wrote("a </tool_call>", "b"), content: "<tool_call> it is." },
    },
    {
      name: "a thinking tag at the start of an answer, in ordinary tokens",
      answer: [["plain", "<think> opens it, </think> closes it."]],
      request: off,
      expect: { content: "<think> opens it, </think> closes it.", reasoning: "", calls: [] },
    },
    {
      name: "the end of thinking as a token without a start",
      answer: [["control", "a</think>b"]],
      request: off,
      expect: { content: "a</think>b", reasoning: "", calls: [] },
    },
    {
      name: "a call in ordinary tokens inside the thinking",
      answer: [
        ["control", "<think>\n"],
        ["plain", json("x") + "<tool_call> </think>"],
        ["control", "\n</think>\n\nA"],
      ],
      expect: { content: "A", reasoning: `${json("x")}<tool_call> </think>`, calls: [] },
    },
    {
      name: "thinking that does not end",
      answer: [
        ["control", "<think>\n"],
        ["plain", "hm </think"],
        ["control", "\n\n"],
      ],
      expect: { content: "", reasoning: "hm </think", calls: [] },
    },
    {
      name: "thinking, where its tags are not tokens",
      model: "smollm3-tools",
      answer: [["plain", "\n<think>\nhm </thin <think>\n</think>\n\nA </think> B"]],
      expect: { content: "A </think> B", reasoning: "hm </thin <think>", calls: [] },
    },
    {
      name: "a bad call and a good one",
      answer: [
        ...hermes("a").slice(0, 1),
        ["plain", '{"name": "write'],
        ["control", "</tool_call>"],
        ...hermes("b"),
      ],
      expect: {
        calls: wrote("b").calls,
        content: '<tool_call>\n{"name": "write</tool_call>',
        malformed: /not JSON/,
      },
    },
    {
      name: "text around calls",
      answer: [
        ["plain", "\n one \n"],
        ...hermes("a"),
        ["plain", "\n\n"],
        ...hermes("b"),
        ["plain", "\ntwo \n"],
      ],
      request: off,
      expect: { ...wrote("a", "b"), content: "\n one \n\n\n\ntwo" },
    },
    {
      name: "white space before a call is not content",
      answer: [["plain", "\n \n"], ...hermes("a"), ["plain", "\n after"]],
      request: off,
      expect: { ...wrote("a"), content: "after" },
    },
    {
      name: "Llama: a tag in ordinary tokens, and text that begins with a brace",
      model: "llama3_2",
      answer: [["plain", '<|python_tag|>{"name": "write", "parameters": {}}']],
      expect: {
        calls: [],
        content: '<|python_tag|>{"name": "write", "parameters": {}}',
        malformed: null,
      },
    },
  ];
  it.each(cases.map((one) => [one.name, one] as const))("%s", async (_, one) => {
    await expect(
      checkCompletion({ ...one, request: { tools: write, ...one.request } }),
    ).resolves.toBeUndefined();
  });

  it("is text where no tools were offered", async () => {
    const content = `<tool_call>\n${json("a")}\n</tool_call>`;
    const answer = [["control", "<think>\nhm\n</think>\n\n"], ...hermes("a")] as const;
    const expected = { calls: [], content, reasoning: "hm", malformed: null };
    await expect(checkCompletion({ name: "", answer, expect: expected })).resolves.toBeUndefined();
  });
});

describe("arguments", () => {
  const tools = [offered("f", objectOf({}))];
  /** What is after the name, and the arguments; null where the call cannot be read. */
  const given: readonly (readonly [string, string | null])[] = [
    [
      ', "arguments": {"a": 1.0, "b": 1e-07, "10": 9007199254740993, "2": -0.0}',
      '{"a":1.0,"b":1e-07,"10":9007199254740993,"2":-0.0}',
    ],
    ["", "{}"],
    [', "arguments": null', "{}"],
    [', "arguments": ""', "{}"],
    [', "arguments": "null"', "{}"],
    [', "arguments": "{\\"a\\": 1.0}"', '{"a":1.0}'],
    [', "input": {"a": 1.0}', '{"a":1.0}'],
    [', "args": {"a": 1.0}, "id": "c1"', '{"a":1.0}'],
    [', "arguments": null, "parameters": {"a": 1}', '{"a":1}'],
    [', "arguments": {}, "parameters": {"a": 1}', '{"a":1}'],
    [', "arguments": {}', "{}"],
    [', "arguments": 5', null],
    [', "arguments": [1]', null],
    [', "arguments": true', null],
    [', "arguments": "text"', null],
    [', "arguments": "[1]"', null],
    [', "a": 1', null],
    [', "kwargs": {"a": 1}', null],
  ];
  const models = ["qwen3", "gemma-3", "phi-4-mini", "mistral-nemo"];
  it.each(models.flatMap((model) => given.map(([text, read]) => [model, text, read] as const)))(
    "%s: {name%s}",
    async (model, text, read) => {
      const frame = {
        "phi-4-mini": ["<|tool_call|>[", "]"],
        "mistral-nemo": ["[TOOL_CALLS][", "]"],
      }[model];
      const [before, after] = frame ?? ["<tool_call>", "</tool_call>"];
      const answer: readonly Part[] = [
        ["control", before!],
        ["plain", `{"name": "f"${text}}`],
        ["control", after!],
      ];
      const expected =
        read === null ? { calls: [], malformed: /"f"/ } : { texts: [read], malformed: null };
      await expect(
        checkCompletion({
          name: "",
          model,
          answer,
          request: { tools, ...off },
          expect: expected,
        }),
      ).resolves.toBeUndefined();
    },
  );

  it.each([
    ['{"name": "f"}', "{}"],
    ['{"name": "f", "parameters": null}', "{}"],
    ['{"name": "f", "input": {"a": 1.0}}', '{"a":1.0}'],
  ])("of Llama: %s", async (text, read) => {
    const answer = [["plain", text]] as const;
    await expect(
      checkCompletion({
        name: "",
        model: "llama3_2",
        answer,
        request: { tools },
        expect: { texts: [read], malformed: null },
      }),
    ).resolves.toBeUndefined();
  });

  it("of Llama that are not an object are marked", async () => {
    const text = '{"name": "f", "parameters": [1]}';
    const expected = { calls: [], content: text, malformed: /not a JSON object/ };
    await expect(
      checkCompletion({
        name: "",
        model: "llama3_2",
        answer: [["plain", text]],
        request: { tools },
        expect: expected,
      }),
    ).resolves.toBeUndefined();
  });
});
