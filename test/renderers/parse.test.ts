/** Reading answers: every tool-call format, reasoning, and what is neither. */
import { describe, expect, it } from "vitest";
import { createRandom } from "../../src/util/random.ts";
import { chooseRenderer } from "../../src/models/renderers/choose-renderer.ts";
import { splitReasoning } from "../../src/models/renderers/reasoning.ts";
import { hermesTools } from "../../src/models/renderers/tool-formats/hermes.ts";
import { llamaTools } from "../../src/models/renderers/tool-formats/llama-json.ts";
import { xmlCalls } from "../../src/models/renderers/tool-formats/qwen-xml.ts";
import {
  createCompletionReader,
  readWhole,
  type CallSyntax,
} from "../../src/core/completion-reader.ts";
import type { ParsedCompletion, ReadOptions } from "../../src/core/policy.ts";
import { isSameJson, parseExact } from "../../src/util/exact-json.ts";
import { loadReal, withMarkup } from "./real-tokenizers.ts";

/** Units as tokens: markup has no ids. */
const decode = (tokens: Int32Array): string =>
  Array.from(tokens, (unit) => String.fromCharCode(unit)).join("");
function parse(calls: CallSyntax, text: string, options?: ReadOptions): ParsedCompletion {
  const units = Int32Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));
  return readWhole(createCompletionReader({ decode, calls }, options), units);
}

const written = (parts: readonly { text: string }[]): string =>
  parts.map(({ text }) => text).join("");

describe.each([
  ["Hermes", hermesTools],
  ["Llama", llamaTools],
])("%s calls", (_, format) => {
  it.each([
    "{}",
    '{"city":"Zürich"}',
    '{"a":[1,2,{"b":null}],"c":true,"d":-1.50,"e":"x\\ny"}',
    '{"id":12345678901234567890,"2":1,"1":2}',
    '{"text":"</parameter>\\n<b>&amp;"}',
  ])("are read as they are written: %s", (text) => {
    const { content, toolCalls } = parse(format.syntax, written(format.call("f", text)));
    expect([content, toolCalls.length, toolCalls[0]?.name]).toEqual(["", 1, "f"]);
    const read = toolCalls[0]!.arguments;
    expect(isSameJson(parseExact(read), parseExact(text))).toBe(true);
    expect(Object.keys(JSON.parse(read) as object)).toEqual(
      Object.keys(JSON.parse(text) as object),
    );
  });

  it("never throw, whatever the text", () => {
    const random = createRandom(7);
    const pieces = ["<tool_call>", "</tool_call>", "<function=f>", "</function>", "<parameter=a>"];
    pieces.push(
      "</parameter>",
      '{"name": "f"',
      ', "parameters": ',
      '{"a": 1}',
      "}",
      "[",
      '"',
      "\\",
    );
    pieces.push("<|python_tag|>", ";", "\n", "x", '{"name": "f", "arguments": {}}', "null");
    for (let i = 0; i < 5000; i++) {
      const text = Array.from(
        { length: 1 + Math.floor(random() * 9) },
        () => pieces[Math.floor(random() * pieces.length)],
      ).join("");
      const parsed = parse(format.syntax, text);
      expect(typeof parsed.content).toBe("string");
      for (const call of parsed.toolCalls) expect(call.name).not.toBe("");
    }
  });
});

describe("Llama calls", () => {
  it("are several when a semicolon is between them", () => {
    const text = '{"name": "f", "parameters": {"a": 1}}; {"name": "g", "parameters": {}}';
    expect(parse(llamaTools.syntax, text).toolCalls).toEqual([
      { name: "f", arguments: '{"a":1}' },
      { name: "g", arguments: "{}" },
    ]);
  });

  it.each(['{"name": "Bob", "age": 3}', '{"a": 1}', "[1, 2]", "plain { text", "{}", "{"])(
    "are not any JSON: %s",
    (text) => {
      expect(parse(llamaTools.syntax, text)).toEqual({ content: text, toolCalls: [] });
    },
  );

  it.each([
    ['{"name": "f", "parameters": {', /not closed/],
    ['{"name": "f", "parameters": {x}}', /not JSON/],
    ["<|python_tag|>print(1)", /not JSON/],
    ['{"name": "f", "parameters": {}} and so on', /followed by text/],
  ])("say why they could not be read: %s", (text, why) => {
    const parsed = parse(llamaTools.syntax, text);
    expect(parsed).toMatchObject({ content: text, toolCalls: [] });
    expect(parsed.malformed).toMatch(why);
  });
});

describe("XML calls", () => {
  it("give values the type they read as", () => {
    const body = (value: string): string =>
      `<tool_call>\n<function=f>\n<parameter=a>\n${value}\n</parameter>\n</function>\n</tool_call>`;
    const read = (value: string): string | undefined =>
      parse(xmlCalls, body(value)).toolCalls[0]?.arguments;
    expect(read("12")).toBe('{"a":12}');
    expect(read("[1, 2]")).toBe('{"a":[1,2]}');
    expect(read("true story")).toBe('{"a":"true story"}');
    expect(read("two\nlines\n")).toBe('{"a":"two\\nlines\\n"}');
    expect(read("[not json")).toBe('{"a":"[not json"}');
  });

  it.each([
    ["<tool_call><function=f><parameter=a>1</function></tool_call>", /not closed/],
    ["<tool_call><function=f x></function></tool_call>", /no complete/],
    ["<tool_call><function=f>", /not closed/],
    ["<tool_call><function=f>hey</function></tool_call>", /outside/],
  ])("say why they could not be read: %s", (text, why) => {
    const parsed = parse(xmlCalls, text);
    expect(parsed).toMatchObject({ content: text, toolCalls: [] });
    expect(parsed.malformed).toMatch(why);
  });
});

describe("reasoning", () => {
  it.each([
    ["<think>\na\n</think>\n\nb", { reasoning: "a", rest: "b" }],
    ["\n <think>a</think></think>b", { reasoning: "a", rest: "</think>b" }],
    ["<think>a", { rest: "<think>a" }],
    ["a</think>b", { rest: "a</think>b" }],
    ["a <think> b", { rest: "a <think> b" }],
    ["", { rest: "" }],
  ])("is split from %j", (text, expected) => {
    expect(splitReasoning(text)).toEqual(expected);
  });

  it("holds no calls, and calls may follow it", () => {
    const { tokenizer, config } = loadReal("qwen3");
    const renderer = chooseRenderer(tokenizer, config);
    const call = written(hermesTools.call("f", "{}"));
    const text = `<think>\n${call}\n</think>\n\n${call}`;
    const parsed = renderer.parse(withMarkup(tokenizer, text));
    expect(parsed).toEqual({
      content: "",
      reasoning: call,
      toolCalls: [{ name: "f", arguments: "{}" }],
    });
  });
});

describe("real tokenizers", () => {
  it.each(["qwen2_5", "qwen3", "llama3_2"] as const)("%s decodes what was encoded", (model) => {
    const { tokenizer } = loadReal(model);
    for (const text of ["a . b , don 't", " x\n\n\ty ", "日本語 👩‍👩‍👧", "\u0000\u007f<|im_end|>"]) {
      expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
    }
  });

  it("show half characters as U+FFFD, and whole ones once they are whole", () => {
    const { tokenizer } = loadReal("llama3_2");
    const ids = tokenizer.encode("👩‍🚀");
    expect(ids.length).toBeGreaterThan(1);
    expect(tokenizer.decode(ids.slice(0, 1))).toContain("\uFFFD");
    expect(tokenizer.decode(ids)).toBe("👩‍🚀");
  });
});
