/** However the tokens of a completion are cut, it is the same message; and XML calls are read as they are written. */
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../src/core/message.ts";
import type { ReadOptions, Renderer } from "../../src/core/policy.ts";
import { isSameJson, exactOf, parseExact } from "../../src/util/exact-json.ts";
import { createRandom } from "../../src/util/random.ts";
import { createByteRenderer } from "../../src/testing/index.ts";
import { idsOf, loadModel, type Part } from "./completion-world.ts";

const wholeCalls = [
  '{"name": "f", "parameters": {"a": 1}}',
  '<tool_call>{"name": "f", "arguments": {"a": "x"}}</tool_call>',
  "<tool_call><function=f><parameter=a>x</parameter></function></tool_call>",
  '[TOOL_CALLS][{"name": "f"}]',
  '<|python_tag|>{"name": "f"}',
  '<|tool_call|>[{"name": "f"}]<|/tool_call|>',
];
const pieces = [
  ...wholeCalls,
  "<think>\n",
  "\n</think>\n\n",
  "<tool_call>\n",
  "\n</tool_call>",
  "<tool_call>",
  "</tool_call>",
  "<|python_tag|>",
  "[TOOL_CALLS]",
  "<|tool_call|>",
  "<|/tool_call|>",
  '{"name": "f", "arguments": {"a": "',
  '[{"name": "f", "arguments": {}}]',
  '"}}',
  "}",
  "]",
  "<function=f>\n",
  "<parameter=a>\n",
  "\n</parameter>\n",
  "</function>",
  "\n",
  " ",
  "\n\n",
  "; ",
  "\\",
  "text",
  "日本 👩‍👩‍👧",
  "\uFFFD",
  "STOP",
];
const models = ["qwen3", "qwen2_5", "llama3_2", "xml", "gemma-3", "phi-4-mini"];
const families = [...models, "mistral-nemo", "mistral-7b-v0.3", "smollm3-tools", "olmo-2"];
const tools = [
  { name: "f", parameters: { type: "object", properties: { a: { type: "string" } } } },
];

/** The message as a client of a stream gets it, with the one that is recorded. */
function streamed(renderer: Renderer, ids: Int32Array, options: ReadOptions, next: () => number) {
  const reader = renderer.reader(options);
  let [content, reasoning] = ["", ""];
  for (let at = 0; at < ids.length;) {
    const size = 1 + Math.floor(next() * next() * 8);
    const delta = reader.push(ids.slice(at, at + size));
    content += delta.content;
    reasoning += delta.reasoning;
    at += size;
  }
  return { content, reasoning, length: reader.length, message: reader.finish() };
}

describe.each([...families, "bytes"])("%s", (name) => {
  const bytes = { renderer: createByteRenderer(), tokenizer: null };
  const { renderer, tokenizer } = name === "bytes" ? bytes : loadModel(name);
  const optionsOf: readonly ReadOptions[] = [
    {},
    { tools },
    { tools: [] },
    { tools, stops: ["STOP", "l>\n{", "</th"] },
  ];

  it("reads the same however tokens are cut", () => {
    const next = createRandom(11);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)]!;
    let calls = 0;
    for (let i = 0; i < 800; i++) {
      const [from, most] = next() < 0.3 ? [wholeCalls, 2] : [pieces, 10];
      const count = 1 + Math.floor(next() * most);
      const parts = Array.from({ length: count }, (): Part => [
        next() < 0.7 ? "control" : "plain",
        pick(from),
      ]);
      const all = tokenizer
        ? [...idsOf(tokenizer, parts)]
        : [...new TextEncoder().encode(parts.map(([, text]) => text).join(""))];
      // Broken characters, too.
      if (next() < 0.2) all.splice(Math.floor(next() * all.length), 1);
      const ids = Int32Array.from([...all, ...(next() < 0.5 ? renderer.stop.tokenIds : [])]);
      const options = pick(optionsOf);
      const whole = renderer.parse(ids, options);
      const cut = streamed(renderer, ids, options, next);
      expect(cut.message, JSON.stringify(parts)).toEqual(whole);
      expect(whole.content.startsWith(cut.content), JSON.stringify(parts)).toBe(true);
      expect((whole.reasoning ?? "").startsWith(cut.reasoning), JSON.stringify(parts)).toBe(true);
      if (!options.stops) expect(cut.length).toBe(ids.length);
      calls += whole.toolCalls.length;
      for (const call of whole.toolCalls) expect(parseExact(call.arguments)).toBeInstanceOf(Map);
      // Nothing is lost where nothing is read.
      if (whole.toolCalls.length === 0 && whole.reasoning === undefined && !options.stops) {
        expect(renderer.decode(ids)).toContain(whole.content);
      }
    }
    expect(calls).toBeGreaterThan(10);
  });
});

it.each(["qwen3", "gemma-3", "xml"])("takes linear time for what is hostile, with %s", (name) => {
  const { renderer, tokenizer } = loadModel(name);
  const hostile = ["<tool_call>{", '<tool_call>{"', '<tool_call>{"</tool_call>', "\n", "</think>"];
  for (const text of hostile) {
    const parts: readonly Part[] = [
      ["plain", `<tool_call>${text.repeat(6000)}`],
      ["control", text.repeat(6000)],
    ];
    const ids = idsOf(tokenizer, parts);
    const start = performance.now();
    const reader = renderer.reader({ tools });
    for (const id of ids) reader.push(Int32Array.of(id));
    reader.finish();
    expect(performance.now() - start, text).toBeLessThan(20_000);
  }
});

/** Python's `str` of a value, which templates write outside of lists and objects. */
function pythonText(value: JsonValue): string {
  if (typeof value === "string") return value;
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  return JSON.stringify(value);
}

it("reads values of XML calls as a template wrote them, over random schemas", () => {
  const next = createRandom(5);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)]!;
  const texts = [
    "",
    "12345",
    "true",
    "None ",
    "null",
    '{"a": 1}',
    "[1]",
    "  x",
    "1.0",
    '"q"',
    "a\nb\n",
    "</parameter> x",
    "é",
  ];
  const scalar = (): JsonValue =>
    pick<JsonValue>([null, true, false, 0, 7, -3, 1.5, 2 ** 40, 1e-7]);
  const deep = (): JsonValue =>
    pick<() => JsonValue>([
      scalar,
      () => pick(texts),
      () => [scalar(), pick(texts)],
      () => ({ k: pick(texts), n: [scalar()] }),
    ])();
  const made: (() => readonly [JsonValue, JsonValue])[] = [
    () => [{ type: "string" }, pick(texts)],
    () => [{ enum: texts }, pick(texts)],
    () => [
      { anyOf: [{ type: "string" }, { type: "null" }] },
      pick(texts.filter((text) => text !== "null" && text.trim() !== "None")),
    ],
    () => [{ anyOf: [{ type: "string" }, { type: "null" }] }, null],
    () => [{ type: ["integer", "null"] }, pick<JsonValue>([1, null])],
    () => [{ type: "integer" }, pick([0, 7, -3, 2 ** 40])],
    () => [{ type: "number" }, pick([0, 1.5, 1e-7, 1e21])],
    () => [{ type: "boolean" }, next() < 0.5],
    () => [{ type: "array" }, [deep(), deep()]],
    () => [{ type: "object" }, { a: deep(), b: deep() }],
    () => [{ $ref: "#/$defs/text" }, pick(texts)],
    () => [{ allOf: [{ $ref: "#/$defs/text" }] }, pick(texts)],
    () => [{ oneOf: [{ type: "object" }, { type: "array" }] }, pick<JsonValue>([[1], { a: [] }])],
  ];
  const { renderer, tokenizer } = loadModel("xml");
  for (let i = 0; i < 1000; i++) {
    const chosen = Array.from(
      { length: 1 + Math.floor(next() * 3) },
      (_, at) => [`p${at}`, ...pick(made)()] as const,
    );
    const properties: JsonObject = Object.fromEntries(chosen.map(([key, schema]) => [key, schema]));
    const value: JsonObject = Object.fromEntries(chosen.map(([key, , each]) => [key, each]));
    const body = chosen
      .map(([key, , each]) => `<parameter=${key}>\n${pythonText(each)}\n</parameter>\n`)
      .join("");
    const parts: readonly Part[] = [
      ["control", "<tool_call>\n"],
      ["plain", `<function=f>\n${body}</function>`],
      ["control", "\n</tool_call>"],
    ];
    const parameters = { type: "object", properties, $defs: { text: { type: "string" } } };
    const parsed = renderer.parse(idsOf(tokenizer, parts), { tools: [{ name: "f", parameters }] });
    expect(parsed.malformed).toBeUndefined();
    const read = parsed.toolCalls[0]!.arguments;
    expect(
      isSameJson(parseExact(read), exactOf(value)),
      `${read} of ${JSON.stringify(value)}`,
    ).toBe(true);
  }
});
