/** Gemma 3, Phi, OLMo 2, Mistral and SmolLM3 against transformers with their chat templates; fixtures by `scripts/fixtures/make_templates.py`. */
import { describe, expect, it } from "vitest";
import type { ChatMessage } from "../../src/core/message.ts";
import { tools } from "./conversations.ts";
import {
  expectedTexts,
  familyTemplates,
  firstControl,
  loadFamily,
  type WireMessage,
} from "./family-templates.ts";

function fromWire({ role, content, tool_calls, tool_call_id }: WireMessage): ChatMessage {
  const toolCalls = tool_calls?.map(({ id, function: { name, arguments: given } }) => ({
    id,
    name,
    arguments: JSON.stringify(given),
  }));
  return {
    role,
    content,
    ...(toolCalls === undefined ? {} : { toolCalls }),
    ...(tool_call_id === undefined ? {} : { toolCallId: tool_call_id }),
  };
}

const question: ChatMessage = { role: "user", content: "Q" };
const more: ChatMessage = { role: "user", content: "More" };

describe.each(Object.keys(familyTemplates))("%s", (name) => {
  const { renderer, tokenizer, full } = loadFamily(name);

  it("is of its family", () => {
    expect(renderer.family).toBe(familyTemplates[name]![0]);
  });

  it.each(expectedTexts[name]!.cases)("writes the ids of its template: $text", (conversation) => {
    const options = conversation.tools?.map((tool) => tool.function);
    const { tokens } = renderer.render(
      conversation.messages.map(fromWire),
      options === undefined ? {} : { tools: options },
    );
    const { text } = conversation;
    // The tokenizer composes characters.
    expect(tokenizer.decode(tokens)).toBe(text.normalize("NFC"));
    expect([...tokens]).toEqual(full(text));
  });

  const sampled = (text: string, end = true): Int32Array =>
    Int32Array.from([
      ...renderer.render([question]).tokens,
      ...tokenizer.encode(text),
      ...(end ? [renderer.stop.tokenIds[0]!] : []),
    ]);
  const answer = name === "mistral-7b-v0.3" ? " A" : "A";

  it("goes on as a fresh rendering would", () => {
    const whole = renderer.render([question, { role: "assistant", content: "A" }, more]);
    expect(renderer.extend(sampled(answer), [more])).toEqual(whole);
    expect(renderer.extend(sampled(answer, false), [more])).toEqual(whole);
  });

  it("does not let a message write tokens of the format", () => {
    const [, controls] = familyTemplates[name]!;
    const forged = renderer.render([{ role: "user", content: controls.join("") }]).tokens;
    const honest = renderer.render([{ role: "user", content: "x" }]).tokens;
    const count = (tokens: Int32Array): number => tokens.filter((id) => id >= firstControl).length;
    expect(count(forged)).toBe(count(honest));
  });
});

describe("tools of families without a format for them", () => {
  it.each([
    ["gemma-3", "user\nBe brief.\n\n# Tools", "\n\nw<end_of_turn>"],
    ["phi-3.5-mini", "<|system|>\nBe brief.\n\n# Tools", "</tool_call><|end|>\n<|user|>\nw<|end|>"],
    ["olmo-2", "<|system|>\nBe brief.\n\n# Tools", "</tool_call>\n<|user|>\nw\n"],
  ])("%s describes them as Hermes does", (name, start, end) => {
    const { renderer, tokenizer } = loadFamily(name);
    const messages: ChatMessage[] = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "w" },
    ];
    const text = tokenizer.decode(renderer.render(messages, { tools }).tokens);
    expect(text).toContain(start);
    expect(text).toContain(end);
    expect(text).toContain('{"type": "function", "function": {"name": "now"}}');
    const call = '<tool_call>\n{"name": "now", "arguments": {"a": 1}}\n</tool_call>';
    expect(renderer.parse(Int32Array.from(tokenizer.encode(call)))).toEqual({
      content: "",
      toolCalls: [{ name: "now", arguments: '{"a":1}' }],
    });
  });

  it("has results of parallel calls in one turn", () => {
    const { renderer, tokenizer } = loadFamily("gemma-3");
    const previous = renderer.render([question], { tools }).tokens;
    const results: ChatMessage[] = ["1", "2"].map((content) => ({ role: "tool", content }));
    const { tokens } = renderer.extend(previous, [...results, more])!;
    expect(tokenizer.decode(tokens.subarray(previous.length))).toBe(
      "<end_of_turn>\n<start_of_turn>user\n<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</tool_response>" +
        "<end_of_turn>\n<start_of_turn>user\nMore<end_of_turn>\n<start_of_turn>model\n",
    );
  });
});

it("writes and reads tools of Phi-4-mini as its model card has them", () => {
  const { renderer, tokenizer } = loadFamily("phi-4-mini");
  const call = { id: "c", name: "now", arguments: '{"a":1}' };
  const messages: ChatMessage[] = [
    { role: "system", content: "S" },
    question,
    { role: "assistant", content: "", toolCalls: [call, call] },
    { role: "tool", content: "12" },
  ];
  const text = tokenizer.decode(renderer.render(messages, { tools: [{ name: "now" }] }).tokens);
  const calls = '[{"name": "now", "arguments": {"a": 1}}, {"name": "now", "arguments": {"a": 1}}]';
  expect(text).toBe(
    '<|system|>S<|tool|>[{"name": "now"}]<|/tool|><|end|><|user|>Q<|end|>' +
      `<|assistant|><|tool_call|>${calls}<|/tool_call|><|end|><|tool|>12<|end|><|assistant|>`,
  );
  const { byText } = tokenizer.controls;
  const ids = [
    byText.get("<|tool_call|>")!.id,
    ...tokenizer.encode(calls),
    byText.get("<|/tool_call|>")!.id,
    byText.get("<|end|>")!.id,
  ];
  expect(renderer.parse(Int32Array.from(ids))).toEqual({
    content: "",
    toolCalls: [call, call].map(({ name, arguments: given }) => ({ name, arguments: given })),
  });
});

describe.each(["mistral-nemo", "mistral-7b-v0.3"])("calls of %s", (name) => {
  const { renderer, tokenizer } = loadFamily(name);
  const space = name === "mistral-nemo" ? "" : " ";
  const sample = (text: string): Int32Array =>
    Int32Array.from([
      tokenizer.controls.byText.get("[TOOL_CALLS]")!.id,
      ...tokenizer.encode(space + text),
      renderer.stop.tokenIds[0]!,
    ]);

  it("are read", () => {
    const text = '[{"name": "now", "arguments": {"s": "]}"}, "id": "abc"}, {"name": "f"}]';
    expect(renderer.parse(sample(text))).toEqual({
      content: "",
      toolCalls: [
        { name: "now", arguments: '{"s":"]}"}' },
        { name: "f", arguments: "{}" },
      ],
    });
  });

  it.each([
    ['[{"name": "now"', "a list of tool calls is not closed"],
    ["[]", "a list of tool calls is empty"],
    ["[1]", "tool calls are not a list of JSON objects"],
    ['[{"a": 1}]', 'a tool call has no "name"'],
  ])("that cannot be read stay content: %s", (text, malformed) => {
    const parsed = renderer.parse(sample(text));
    expect(parsed).toMatchObject({ toolCalls: [], malformed });
    expect(parsed.content).toContain(text);
  });

  it("go on after results, whatever their ids", () => {
    const previous = Int32Array.from([
      ...renderer.render([question], { tools }).tokens,
      ...sample("[]"),
    ]);
    const result: ChatMessage = { role: "tool", content: "12", toolCallId: "call-17" };
    const { tokens } = renderer.extend(previous, [result])!;
    expect([...tokens.subarray(0, previous.length)]).toEqual([...previous]);
    const added = tokenizer.decode(tokens.subarray(previous.length));
    const pattern =
      /^\[TOOL_RESULTS\] ?\{"content": 12, "call_id": "[\da-z]{9}"\}\[\/TOOL_RESULTS\]$/u;
    expect(added).toMatch(pattern);
  });
});

it("reads reasoning and calls of SmolLM3", () => {
  const { renderer, tokenizer } = loadFamily("smollm3-tools");
  const text = '<think>\nhm\n</think>\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>';
  expect(renderer.parse(Int32Array.from(tokenizer.encode(text)))).toEqual({
    content: "",
    reasoning: "hm",
    toolCalls: [{ name: "f", arguments: "{}" }],
  });
});
