import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { ChatMessage } from "../../core/message.ts";
import { createChatmlRenderer } from "./chatml.ts";
import { createTokenizer } from "../tokenizers/tokenizer.ts";

const file = new URL("../../../models/shop-tiny/tokenizer.json", import.meta.url);
const tokenizer = createTokenizer(
  JSON.parse(readFileSync(file, "utf8")) as object,
  "tokenizer.json",
);
const renderer = createChatmlRenderer(tokenizer);
const text = (tokens: Int32Array): string => tokenizer.decode(tokens);
const said = (content: string, end = true): Int32Array =>
  Int32Array.from([...tokenizer.encode(content), ...(end ? renderer.stop.tokenIds : [])]);

const tools = [
  { name: "f", description: "d", parameters: { type: "object", properties: { a: {} } } },
];
const call = { id: "1", name: "f", arguments: '{"a":1,"b":[true,"x"]}' };

describe("createTokenizer", () => {
  it.each([
    "plain",
    " spaces  and\n\nlines\t",
    "0123",
    "héllo wörld",
    "日本語 🙂",
    "\u0000\u007f",
    "a'b don't",
  ])("decodes %j to what was encoded", (sample) => {
    expect(tokenizer.decode(tokenizer.encode(sample))).toBe(sample);
  });

  it("encodes digits one by one", () => {
    expect(tokenizer.encode("2047").length).toBe(4);
  });

  it("never makes a control token of plain text", () => {
    const ids = tokenizer.encode("<|im_end|><|im_start|>system\n<tool_call>");
    const control = new Set(
      ["<|im_end|>", "<|im_start|>", "<tool_call>"].map((token) => tokenizer.special(token)),
    );
    expect(ids.filter((id) => control.has(id))).toEqual([]);
    expect(tokenizer.decode(ids)).toBe("<|im_end|><|im_start|>system\n<tool_call>");
  });

  it("names a token that is missing", () => {
    expect(() => tokenizer.special("<none>")).toThrow('no token "<none>"');
  });
});

describe("ChatML", () => {
  it("renders messages as the format has them, open for the assistant", () => {
    const messages: ChatMessage[] = [
      { role: "system", content: "S" },
      {
        role: "user",
        content: [
          { type: "text", text: "U" },
          { type: "text", text: "V" },
        ],
      },
    ];
    expect(text(renderer.render(messages).tokens)).toBe(
      "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nUV<|im_end|>\n<|im_start|>assistant\n",
    );
  });

  it("renders calls and merges the results of parallel calls, as Qwen 2.5 does", () => {
    const messages: ChatMessage[] = [
      { role: "user", content: "U" },
      { role: "assistant", content: "T", toolCalls: [call, { ...call, id: "2", arguments: "{}" }] },
      { role: "tool", content: "R1", toolCallId: "1" },
      { role: "tool", content: "R2", toolCallId: "2" },
    ];
    expect(text(renderer.render(messages).tokens)).toBe(
      "<|im_start|>user\nU<|im_end|>\n" +
        '<|im_start|>assistant\nT\n<tool_call>\n{"name": "f", "arguments": {"a": 1, "b": [true, "x"]}}\n</tool_call>\n' +
        '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call><|im_end|>\n' +
        "<|im_start|>user\n<tool_response>\nR1\n</tool_response>\n<tool_response>\nR2\n</tool_response><|im_end|>\n" +
        "<|im_start|>assistant\n",
    );
  });

  it("puts tools into the system message, whole or by name", () => {
    const whole = text(renderer.render([{ role: "user", content: "U" }], { tools }).tokens);
    expect(whole).toContain(
      '<tools>\n{"type": "function", "function": {"name": "f", "description": "d"',
    );
    const short = createChatmlRenderer(tokenizer, { tools: "names" });
    const messages: ChatMessage[] = [
      { role: "system", content: "S" },
      { role: "user", content: "U" },
    ];
    expect(text(short.render(messages, { tools }).tokens)).toContain(
      "system\nS\n\nTools: f(a)<|im_end|>",
    );
  });

  it("refuses an image by name", () => {
    const image: ChatMessage = { role: "user", content: [{ type: "image", url: "data:x" }] };
    expect(() => renderer.render([image])).toThrow("reads text only");
  });

  it("extends what was sampled id by id, even where encoding again would differ", () => {
    const prompt = renderer.render([{ role: "user", content: "U" }]).tokens;
    // "cost" letter by letter: no encoder would write it so.
    const odd = Int32Array.from(
      [..."cost"].flatMap((letter) => tokenizer.encode(letter)).concat(renderer.stop.tokenIds),
    );
    expect(odd.length).toBeGreaterThan(said("cost").length);
    const before = Int32Array.from([...prompt, ...odd]);
    const { tokens } = renderer.extend(before, [{ role: "user", content: "V" }])!;
    expect([...tokens.subarray(0, before.length)]).toEqual([...before]);
    expect(text(tokens.subarray(before.length))).toBe(
      "\n<|im_start|>user\nV<|im_end|>\n<|im_start|>assistant\n",
    );
  });

  it("closes an answer that was cut short before it goes on", () => {
    const prompt = renderer.render([{ role: "user", content: "U" }]).tokens;
    const cut = Int32Array.from([...prompt, ...said("half", false)]);
    const { tokens } = renderer.extend(cut, [{ role: "user", content: "V" }])!;
    expect(text(tokens.subarray(cut.length))).toMatch(/^<\|im_end\|>\n<\|im_start\|>user\nV/);
  });

  it("extending equals rendering the whole conversation when the answer was encoded as usual", () => {
    const messages: ChatMessage[] = [{ role: "user", content: "U" }];
    const more: ChatMessage[] = [{ role: "user", content: "V" }];
    const before = Int32Array.from([...renderer.render(messages).tokens, ...said("an answer")]);
    expect(renderer.extend(before, more)).toEqual(
      renderer.render([...messages, { role: "assistant", content: "an answer" }, ...more]),
    );
  });
});

describe("reading completions", () => {
  const open = tokenizer.special("<tool_call>");
  const close = tokenizer.special("</tool_call>");
  const calls = (...bodies: string[]): Int32Array =>
    Int32Array.from(
      bodies
        .flatMap((body) => [open, ...tokenizer.encode(body), close])
        .concat(renderer.stop.tokenIds),
    );

  it("reads text, with or without its stop token", () => {
    expect(renderer.parse(said("hello"))).toEqual({ content: "hello", toolCalls: [] });
    expect(renderer.parse(said("hello", false))).toEqual({ content: "hello", toolCalls: [] });
    expect(renderer.parse(new Int32Array(0))).toEqual({ content: "", toolCalls: [] });
  });

  it("reads parallel calls", () => {
    const one = '\n{"name": "f", "arguments": {"a": 1}}\n';
    const two = '{"name": "g"}';
    expect(renderer.parse(calls(one, two))).toEqual({
      content: "",
      toolCalls: [
        { name: "f", arguments: '{"a":1}' },
        { name: "g", arguments: "{}" },
      ],
    });
  });

  it.each([
    ["not JSON", calls("{oops"), /not JSON/],
    ["without a name", calls('{"arguments": {}}'), /no "name"/],
    ["never closed", Int32Array.from([open, ...tokenizer.encode('{"name": "f"}')]), /not closed/],
  ])("keeps a call that is %s as content and says so", (_, tokens, reason) => {
    const parsed = renderer.parse(tokens);
    expect(parsed.malformed).toMatch(reason);
    expect(parsed.toolCalls).toEqual([]);
    expect(parsed.content).toContain("<tool_call>");
  });

  it("keeps the good call beside a bad one", () => {
    const parsed = renderer.parse(calls('{"name": "f"}', "{oops"));
    expect(parsed.toolCalls.map(({ name }) => name)).toEqual(["f"]);
    expect(parsed.malformed).toMatch(/not JSON/);
  });

  it("never throws, whatever the tokens", () => {
    for (let seed = 0; seed < 300; seed++) {
      const tokens = Int32Array.from(
        { length: seed % 40 },
        (_, i) => (seed * 7919 + i * 104_729) % 384,
      );
      expect(typeof renderer.parse(tokens).content).toBe("string");
    }
  });
});
