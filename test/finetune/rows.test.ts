/** Rows as people really store them: with Arrow's nulls, JSON as text, prompts that stand twice, calls without results. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Renderer } from "../../src/core/policy.ts";
import { readFileRows } from "../../src/datasets/files/read-file.ts";
import {
  parseConversation,
  parsePreference,
} from "../../src/launch/finetune/examples/conversation.ts";
import { parseFeedback } from "../../src/launch/finetune/examples/feedback.ts";
import { renderConversation } from "../../src/launch/finetune/examples/render-conversation.ts";
import { chooseRenderer } from "../../src/models/renderers/choose-renderer.ts";
import { loadReal } from "../renderers/real-tokenizers.ts";
import { sharedCases } from "../shared-cases.ts";

type Command = "sft" | "dpo" | "kto";
interface Side {
  readonly messages: readonly object[];
  readonly tools: readonly object[];
  readonly trained: readonly boolean[];
}

/** The conversations of a row. */
function read(command: Command, row: unknown, isColumnar = false): readonly Side[] {
  const at = "rows.jsonl:4";
  if (command === "sft") return [parseConversation(row, at, "all", isColumnar)];
  if (command === "kto") return [parseFeedback(row, at, "all", isColumnar).conversation];
  const { chosen, rejected } = parsePreference(row, at, isColumnar);
  return [chosen, rejected];
}
const contents = (sides: readonly Side[]): unknown =>
  sides.map(({ messages }) => messages.map((each) => (each as { content: unknown }).content));
const argumentsOf = (row: unknown, isColumnar = false): readonly unknown[] =>
  read("sft", row, isColumnar)[0]!.messages.flatMap((message) => {
    const { toolCalls = [] } = message as { toolCalls?: readonly { arguments: string }[] };
    return toolCalls.map((call) => JSON.parse(call.arguments) as unknown);
  });

const say = (role: string, content: unknown, more: object = {}) => ({ role, content, ...more });
const [q, four, five] = [say("user", "q"), say("assistant", "4"), say("assistant", "5")];

const qwen3 = ((): Renderer => {
  const { tokenizer, config } = loadReal("qwen3");
  return chooseRenderer(tokenizer, config);
})();
/** The text of a row, trained parts in brackets. */
function shown(row: unknown, renderer: Renderer = qwen3): string {
  const rows = renderConversation(renderer, parseConversation(row, "rows.jsonl:4"), "rows.jsonl:4");
  return rows
    .map(({ tokens, mask }) => {
      const parts: string[] = [];
      for (let start = 0; start < mask.length;) {
        let end = start + 1;
        while (end < mask.length && mask[end] === mask[start]) end++;
        const text = renderer.inspect!(tokens.subarray(start, end));
        parts.push(mask[start] === 1 ? `⟦${text}⟧` : text);
        start = end;
      }
      return parts.join("");
    })
    .join("\n---\n");
}

interface Case {
  readonly command: Command;
  readonly kind: string;
  readonly row: Record<string, unknown>;
  readonly wanted: string;
}
type Check = (found: Case) => void;

const questionOnce: Check = ({ command, row }) => {
  const sides = read(command, row);
  const asked = "prompt" in row && row["prompt"] !== null ? row["prompt"] : "q";
  const text = typeof asked === "string" ? asked : (asked as [{ content: string }])[0].content;
  expect(contents(sides)).toEqual(
    command === "dpo"
      ? [
          [text, "4"],
          [text, "5"],
        ]
      : [[text, "4"]],
  );
  for (const { trained } of sides) expect(trained).toEqual([false, true]);
};
const refused =
  (message: RegExp): Check =>
  ({ command, row }) =>
    expect(() => read(command, row)).toThrow(message);

/** The right value of each case, in the order of its kind. */
const right: Readonly<Record<string, readonly Check[]>> = {
  "prompt stands twice": [questionOnce, questionOnce, questionOnce, questionOnce],
  "null is absent": [
    questionOnce,
    ({ row }) => expect(contents(read("sft", row))).toEqual([["q", "a"]]),
  ],
  "null from Arrow": [
    ({ row }) => expect(argumentsOf(row)).toEqual([{ city: "Rome" }]),
    ({ row }) =>
      expect(read("sft", row)[0]!.tools).toEqual([
        {
          name: "get_weather",
          parameters: { type: "object", properties: { city: { type: "string" } } },
        },
      ]),
  ],
  "JSON as text": [
    ({ row }) => expect(read("sft", row)[0]!.tools).toMatchObject([{ name: "get_weather" }]),
    ({ row }) => expect(argumentsOf(row)).toEqual([{}]),
    ({ row }) => expect(contents(read("sft", row))).toEqual([["q", "", '{"temp":3}', "a"]]),
  ],
  "inline reasoning": [
    ({ row }) =>
      expect(shown(row)).toBe(
        "<|im_start|>user\n2+2<|im_end|>\n<|im_start|>assistant\n⟦<think>\nadd\n</think>\n\n4<|im_end|>⟧",
      ),
  ],
  "labels as text": [refused(/^rows\.jsonl:4: label must be true or false, .* it is "true"\.$/u)],
  holds: [
    ({ row }) => expect(contents(read("sft", row))).toEqual([["q", "a"]]),
    refused(/not a JSON object/u),
    refused(/but it has conversations/u),
    ({ row }) => expect(read("sft", row)[0]!.trained).toEqual([false, true]),
  ],
  "a call without its result": [
    refused(/^rows\.jsonl:4: messages\[3\] follows the call "A" without a result\.$/u),
    refused(/^rows\.jsonl:4: messages\[2\] follows the call "A" without a result\.$/u),
  ],
};

const shared = sharedCases("training/rows.json");
describe.skipIf(shared === null)("shared rows (skipped where there are none)", () => {
  const cases = shared === null ? [] : (JSON.parse(readFileSync(shared, "utf8")) as Case[]);
  const numbered = cases.map((found, i) => {
    const place = cases.slice(0, i).filter(({ kind }) => kind === found.kind).length;
    return { ...found, place };
  });
  it.each(numbered)("$kind $place: $wanted", ({ place, ...found }) => {
    const check = right[found.kind]?.[place];
    expect(check).toBeDefined();
    check!(found);
  });
  it.skipIf(sharedCases("training/arrow-calls.parquet") === null)(
    "arrow-calls.parquet has only the arguments that were given",
    async () => {
      const given: unknown[] = [];
      for await (const row of readFileRows(sharedCases("training/arrow-calls.parquet")!, "x"))
        if ("value" in row) given.push(...argumentsOf(row.value, row.isColumnar));
      expect(given).toEqual([{ from: "Rome", to: "Oslo" }, { city: "Oslo" }]);
    },
  );
  it.skipIf(sharedCases("training/two-layouts.parquet") === null)(
    "two-layouts.parquet has a row that is not a conversation",
    async () => {
      const rows: unknown[] = [];
      for await (const row of readFileRows(sharedCases("training/two-layouts.parquet")!, "x"))
        if ("value" in row) rows.push(row.value);
      expect(contents(read("sft", rows[0]))).toEqual([["a", "b"]]);
      expect(() => read("sft", rows[1])).toThrow(/a row needs messages, .* but it has nothing/u);
    },
  );
});

describe("a prompt that stands twice", () => {
  const system = say("system", "Be kind.");
  const earlier = [say("user", "hi"), say("assistant", "hello")];
  it.each<[string, Command, object, unknown]>([
    [
      "text, with a system message in the pair",
      "dpo",
      { prompt: "q", chosen: [system, q, four], rejected: [system, q, five] },
      [
        ["Be kind.", "q", "4"],
        ["Be kind.", "q", "5"],
      ],
    ],
    [
      "list, whose system message the pair lacks",
      "dpo",
      { prompt: [system, q], chosen: [q, four], rejected: [q, five] },
      [
        ["Be kind.", "q", "4"],
        ["Be kind.", "q", "5"],
      ],
    ],
    [
      "list of several turns",
      "dpo",
      { prompt: [...earlier, q], chosen: [...earlier, q, four], rejected: [...earlier, q, five] },
      [
        ["hi", "hello", "q", "4"],
        ["hi", "hello", "q", "5"],
      ],
    ],
    [
      "list, of which the last question is repeated",
      "dpo",
      { prompt: [...earlier, q], chosen: [q, four], rejected: [q, five] },
      [
        ["hi", "hello", "q", "4"],
        ["hi", "hello", "q", "5"],
      ],
    ],
    [
      "in one of both",
      "dpo",
      { prompt: "q", chosen: [q, four], rejected: [five] },
      [
        ["q", "4"],
        ["q", "5"],
      ],
    ],
    [
      "in another form",
      "dpo",
      {
        prompt: [say("user", [{ type: "text", text: "q" }])],
        chosen: [{ ...q, name: null }, four],
        rejected: [q, five],
      },
      [
        ["q", "4"],
        ["q", "5"],
      ],
    ],
    [
      "as JSON text",
      "dpo",
      { prompt: "q", chosen: JSON.stringify([q, four]), rejected: JSON.stringify([q, five]) },
      [
        ["q", "4"],
        ["q", "5"],
      ],
    ],
    [
      "in OpenAI's format",
      "dpo",
      { input: { messages: [q] }, preferred_output: [q, four], non_preferred_output: [q, five] },
      [
        ["q", "4"],
        ["q", "5"],
      ],
    ],
    [
      "in a completion of several turns",
      "sft",
      { prompt: "q", completion: [q, four, q, five] },
      [["q", "4", "q", "5"]],
    ],
    [
      "in feedback with a system message",
      "kto",
      { prompt: [system, q], completion: [system, q, four], label: false },
      [["Be kind.", "q", "4"]],
    ],
  ])("%s, is read once", (_, command, row, wanted) => {
    const sides = read(command, row);
    expect(contents(sides)).toEqual(wanted);
    for (const { trained } of sides) expect(trained.at(-1)).toBe(true);
    for (const { trained } of sides) expect(trained[0]).toBe(false);
  });

  it("ends where the responses differ, as in TRL", () => {
    const row = { prompt: "hi", chosen: [...earlier, q, four], rejected: [...earlier, q, five] };
    for (const { trained } of read("dpo", row))
      expect(trained).toEqual([false, false, false, true]);
  });
  it("is not meant where the user asks again", () => {
    const row = { prompt: [q, four], completion: [q, five] };
    expect(contents(read("sft", row))).toEqual([["q", "4", "q", "5"]]);
    expect(contents(read("sft", { prompt: [system], completion: [q, four] }))).toEqual([
      ["Be kind.", "q", "4"],
    ]);
  });
  it.each<[Command, object, RegExp]>([
    [
      "dpo",
      { prompt: "other", chosen: [q, four], rejected: [q, five] },
      /chosen begins with a message of the user that is not the prompt/u,
    ],
    ["sft", { prompt: "other", completion: [q, four] }, /completion begins with/u],
    [
      "dpo",
      { prompt: [say("system", "a"), q], chosen: [say("system", "b"), q, four], rejected: [five] },
      /another system message/u,
    ],
    ["dpo", { prompt: "q", chosen: [q], rejected: [q, four] }, /must differ/u],
    ["dpo", { prompt: "q", chosen: [q, four], rejected: [q, four] }, /must differ/u],
    ["dpo", { prompt: "q", chosen: [q, four], rejected: [four] }, /are the same/u],
    ["sft", { prompt: "q", completion: [q] }, /no assistant message/u],
  ])("%s %j is refused", (command, row, message) => {
    expect(() => read(command, row)).toThrow(message);
  });
});

const call = (name: string, given: unknown, id = "c1"): object => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name, arguments: given } }],
});
const answer = say("tool", "ok", { tool_call_id: "c1" });
const tool = (parameters: unknown): object => ({
  type: "function",
  function: { name: "f", parameters },
});
const text = { type: "string" };

describe("a null in the arguments of a call", () => {
  const optional = { type: ["string", "null"] };
  const nested = {
    type: "object",
    properties: {
      where: { $ref: "#/$defs/Place" },
      days: { type: "array", items: { $ref: "#/$defs/Place" } },
    },
    $defs: { Place: { type: "object", properties: { city: text } } },
  };
  it.each<[string, unknown, object, object]>([
    [
      "that the schema does not have",
      { type: "object", properties: { a: text } },
      { a: "x", b: null },
      { a: "x" },
    ],
    [
      "that may not be null",
      { type: "object", properties: { a: text, b: text } },
      { a: "x", b: null },
      { a: "x" },
    ],
    ["of a tool without parameters", undefined, { b: null }, {}],
    ["that an enum excludes", { properties: { a: { enum: ["x", "y"] } } }, { a: null }, {}],
    [
      "in nested objects and lists",
      nested,
      { where: { city: "Rome", item: null }, days: [{ city: null }, { city: "Oslo" }] },
      { where: { city: "Rome" }, days: [{}, { city: "Oslo" }] },
    ],
    [
      "in one of several forms",
      { properties: { a: { anyOf: [{ properties: { x: text } }, { properties: { y: text } }] } } },
      { a: { x: "1", y: null, z: null } },
      { a: { x: "1" } },
    ],
    [
      "that must be there",
      { properties: { a: optional }, required: ["a"] },
      { a: null },
      { a: null },
    ],
    [
      "that was given, since it may be null",
      {
        properties: {
          a: optional,
          b: { anyOf: [text, { type: "null" }] },
          c: { nullable: true, type: "string" },
        },
      },
      { a: null, b: null, c: null },
      { a: null, b: null, c: null },
    ],
    ["of a free object", { type: "object" }, { a: null }, { a: null }],
    [
      "of an object with further fields",
      { properties: {}, additionalProperties: true },
      { a: null },
      { a: null },
    ],
  ])("%s", (_, parameters, given, wanted) => {
    const messages = [q, call("f", given), answer, four];
    expect(argumentsOf({ messages, tools: [tool(parameters)] })).toEqual([wanted]);
    // JSON text says what was given.
    const asText = [q, call("f", JSON.stringify(given)), answer, four];
    expect(argumentsOf({ messages: asText, tools: [tool(parameters)] })).toEqual([given]);
  });

  it("is absent without a schema where the row has Arrow's pattern, or is from Parquet", () => {
    const messages = [q, call("g", { a: 1, b: null }), answer, four];
    const fields = ["role", "content", "tool_calls", "tool_call_id"];
    const union = messages.map((message) => {
      const own = new Map(Object.entries(message));
      return Object.fromEntries(fields.map((field) => [field, own.get(field) ?? null]));
    });
    expect(argumentsOf({ messages })).toEqual([{ a: 1, b: null }]);
    expect(argumentsOf({ messages: union })).toEqual([{ a: 1 }]);
    expect(argumentsOf({ messages }, true)).toEqual([{ a: 1 }]);
    const parameters = { properties: { a: {}, b: { type: ["null", "integer"] } } };
    expect(argumentsOf({ messages: union, tools: [tool(parameters)] })).toEqual([{ a: 1 }]);
    const required = {
      function: { name: "g", parameters: { ...parameters, required: ["b"] } },
      type: "function",
    };
    expect(argumentsOf({ messages: union, tools: [required] })).toEqual([{ a: 1, b: null }]);
  });

  it("is looked for in bounded time, whatever the schema refers to", () => {
    const loop = { anyOf: [{ $ref: "#/$defs/A" }, { $ref: "#/$defs/B" }] };
    const parameters = { ...loop, properties: { a: loop }, $defs: { A: loop, B: loop } };
    const messages = [q, call("f", { a: { b: null } }), answer, four];
    expect(argumentsOf({ messages, tools: [tool(parameters)] })).toHaveLength(1);
  });
});

describe("a null in a tool", () => {
  const toolsOf = (parameters: unknown): unknown =>
    (
      read("sft", { messages: [q, four], tools: [tool(parameters)] })[0]!.tools[0] as {
        parameters?: unknown;
      }
    ).parameters;
  it.each<[string, unknown, unknown]>([
    [
      "keyword",
      { type: "object", properties: { a: { type: "string", enum: null, minLength: null } } },
      { type: "object", properties: { a: text } },
    ],
    [
      "property that is named like a keyword",
      { properties: { default: null, const: text } },
      { properties: { const: text } },
    ],
    [
      "default of a text",
      { properties: { a: { type: "string", default: null } } },
      { properties: { a: text } },
    ],
    [
      "default that may be null",
      { properties: { a: { type: ["string", "null"], default: null } } },
      { properties: { a: { type: ["string", "null"], default: null } } },
    ],
    [
      "value of an enum",
      { properties: { a: { enum: ["x", null] } } },
      { properties: { a: { enum: ["x", null] } } },
    ],
    [
      "field of a default",
      { properties: { a: { type: "object", default: { b: null } } } },
      { properties: { a: { type: "object", default: { b: null } } } },
    ],
    ["definition", { $defs: { A: null, B: text }, required: null }, { $defs: { B: text } }],
    ["schema", null, undefined],
  ])("%s", (_, parameters, wanted) => expect(toolsOf(parameters)).toEqual(wanted));
});

describe("JSON as text", () => {
  const messages = [q, call("f", { a: "x" }), answer, four];
  const tools = [tool({ type: "object", properties: { a: text } })];
  const plain = read("sft", { messages, tools });
  it.each<[string, object]>([
    ["messages", { messages: JSON.stringify(messages), tools }],
    ["each message", { messages: messages.map((each) => JSON.stringify(each)), tools }],
    ["tools", { messages, tools: ` ${JSON.stringify(tools)}` }],
    ["each tool", { messages, tools: tools.map((each) => JSON.stringify(each)) }],
    [
      "the parameters of a tool",
      { messages, tools: [tool(JSON.stringify({ type: "object", properties: { a: text } }))] },
    ],
    [
      "calls",
      {
        messages: [
          q,
          {
            ...call("f", ""),
            tool_calls: JSON.stringify([
              { id: "c1", type: "function", function: { name: "f", arguments: '{"a":"x"}' } },
            ]),
          },
          answer,
          four,
        ],
        tools,
      },
    ],
    [
      "the function of a call",
      {
        messages: [
          q,
          {
            role: "assistant",
            tool_calls: [
              {
                id: "c1",
                type: "function",
                function: JSON.stringify({ name: "f", arguments: { a: "x" } }),
              },
            ],
          },
          answer,
          four,
        ],
        tools,
      },
    ],
    [
      "prompt and completion",
      {
        prompt: JSON.stringify(messages.slice(0, 1)),
        completion: JSON.stringify(messages.slice(1)),
        tools,
      },
    ],
  ])("%s: is read", (_, row) => expect(read("sft", row)).toEqual(plain));

  it("is text where it is not messages", () => {
    const list = '[{"a": 1}]';
    expect(contents(read("sft", { prompt: list, completion: "[1, 2]" }))).toEqual([
      [list, "[1, 2]"],
    ]);
  });
  it.each<[object, RegExp]>([
    [{ messages, tools: "[{" }, /tools must be a list/u],
    [{ messages, tools: ["[]"] }, /tools\[0\]/u],
    [{ messages: 7 }, /messages must be a list of messages or a text, but it is 7/u],
    [{ messages: [q, { role: "assistant", tool_calls: "[{" }] }, /tool_calls/u],
    [{ messages: [q, { ...call("f", ""), tool_calls: "none" }] }, /tool_calls/u],
  ])("%j is refused", (row, message) => expect(() => read("sft", row)).toThrow(message));

  it.each<[unknown, string]>([
    [{ temp: 3 }, '{"temp":3}'],
    [[{ temp: 3 }], '[{"temp":3}]'],
    [[], "[]"],
    [42, "42"],
    [true, "true"],
    [[{ type: "text", text: "x" }], "x"],
    ["x", "x"],
  ])("the result %j is its JSON text, or its own", (content, wanted) => {
    const row = { messages: [q, call("f", "{}"), { ...answer, content }, four] };
    expect((contents(read("sft", row)) as string[][])[0]![2]).toBe(wanted);
  });
});

describe("calls and results", () => {
  const two = {
    role: "assistant",
    tool_calls: ["A", "B"].map((id) => ({
      id,
      type: "function",
      function: { name: "f", arguments: "{}" },
    })),
  };
  const result = (id?: string): object =>
    say("tool", "r", id === undefined ? {} : { tool_call_id: id });
  it.each<[string, readonly object[]]>([
    ["all results, in another order", [q, two, result("B"), result("A"), four]],
    ["results without ids", [q, two, result(), result(), four]],
    ["null for an id", [q, two, { ...result("A"), tool_call_id: null }, result("B"), four]],
    ["an end in results", [q, two, result("A")]],
  ])("%s, are read", (_, messages) => {
    expect(read("sft", { messages })[0]!.messages).toHaveLength(messages.length);
  });
  it("without ids are matched in order", () => {
    const made = {
      role: "assistant",
      tool_calls: [1, 2].map(() => ({ type: "function", function: { name: "f" } })),
    };
    const [side] = read("sft", { messages: [q, made, result(), result(), four] });
    expect(side!.messages).toMatchObject([
      {},
      { toolCalls: [{ id: "call_0", arguments: "{}" }, { id: "call_1" }] },
      { toolCallId: "call_0" },
      { toolCallId: "call_1" },
      {},
    ]);
  });
  it.each<[string, Command, object, RegExp]>([
    [
      "one of two",
      "sft",
      { messages: [q, two, result("A"), four] },
      /messages\[3\] follows the call "B" without/u,
    ],
    ["both", "sft", { messages: [q, two, q, four] }, /follows the calls "A", "B" without/u],
    [
      "before another call",
      "sft",
      { messages: [q, two, result("A"), two, result("A")] },
      /the call "B"/u,
    ],
    ["one of two without ids", "sft", { messages: [q, two, result(), four] }, /the call "B"/u],
    [
      "in a prompt",
      "sft",
      { prompt: [q, two, say("user", "x")], completion: "a" },
      /the calls "A", "B"/u,
    ],
    [
      "in a rejected response",
      "dpo",
      { prompt: "q", chosen: [four], rejected: [two, result("B"), five] },
      /the call "A"/u,
    ],
    [
      "with feedback",
      "kto",
      { messages: [q, two, result("A"), four], label: true },
      /the call "B"/u,
    ],
  ])("a result that is missing, %s, is refused", (_, command, row, message) => {
    expect(() => read(command, row)).toThrow(message);
  });
});

describe("reasoning in the text of a message", () => {
  const open = "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n";
  const whole = `${open}⟦<think>\nadd\n</think>\n\n4<|im_end|>⟧`;
  it.each([
    "<think>\nadd\n</think>\n\n4",
    "<think>add</think>4",
    "\n<think>\nadd\n</think>\n4",
    "add\n</think>\n\n4",
  ])("%j is that of the message", (content) => {
    expect(shown({ messages: [q, say("assistant", content)] })).toBe(whole);
  });
  it("is that of a message with parts, and with the field thinking", () => {
    const parts = [{ type: "text", text: "<think>add</think>4" }];
    expect(shown({ messages: [q, say("assistant", parts)] })).toBe(whole);
    expect(shown({ messages: [q, { ...four, thinking: "add" }] })).toBe(whole);
  });
  it("is none where it is empty", () => {
    const empty = shown({ messages: [q, say("assistant", "<think>\n\n</think>\n\n4")] });
    expect(empty).toBe(shown({ messages: [q, four] }));
  });
  it("is that of a message with a call", () => {
    const made = { ...call("f", '{"a": "x"}'), content: "<think>\nadd\n</think>\n\n" };
    expect(shown({ messages: [q, made] })).toContain("⟦<think>\nadd\n</think>\n\n<tool_call>");
  });
  it("that is not closed is refused, and a tag within a text is text", () => {
    const cutOff = { messages: [q, say("assistant", "<think>\nadd")] };
    expect(() => shown(cutOff)).toThrow(/^rows\.jsonl:4: the reasoning .* is not closed/u);
    for (const content of ["x<think>add</think>4", "Close it with </think> and go on."])
      expect(shown({ messages: [q, say("assistant", content)] })).toContain(content);
  });
  it("stays text for a model that has none", () => {
    const { tokenizer, config } = loadReal("qwen2_5");
    const row = { messages: [q, say("assistant", "<think>add</think>4")] };
    expect(shown(row, chooseRenderer(tokenizer, config))).toContain(
      "⟦<think>add</think>4<|im_end|>⟧",
    );
  });
});

it.each([["true"], ["good"], [null], [2], ["yes"]])("the label %j is refused", (label) => {
  expect(() => read("kto", { prompt: "q", completion: "a", label })).toThrow(/label must be/u);
});
