/** Conversations to tokens and masks, held to the renderers of published models. */
import { describe, expect, it } from "vitest";
import type { Renderer } from "../../src/core/policy.ts";
import {
  parseConversation,
  parsePreference,
} from "../../src/launch/finetune/examples/conversation.ts";
import {
  renderConversation,
  responseTokens,
} from "../../src/launch/finetune/examples/render-conversation.ts";
import type { TokenRow } from "../../src/launch/finetune/examples/token-row.ts";
import { chooseRenderer } from "../../src/models/renderers/choose-renderer.ts";
import { loadReal, type RealModel } from "../renderers/real-tokenizers.ts";
import { shopConversations } from "./trl-examples.ts";

const rendererOf = (model: RealModel): Renderer => {
  const { tokenizer, config } = loadReal(model);
  return chooseRenderer(tokenizer, config);
};
const render = (renderer: Renderer, row: unknown, trainOn: "all" | "last" = "all") =>
  renderConversation(renderer, parseConversation(row, "data.jsonl:7", trainOn), "data.jsonl:7");

/** The texts that are trained on. */
function trainedTexts(renderer: Renderer, { tokens, mask }: TokenRow): string[] {
  const texts: string[] = [];
  for (let start = 0; start < mask.length;) {
    let end = start + 1;
    while (end < mask.length && mask[end] === mask[start]) end++;
    if (mask[start] === 1) texts.push(renderer.inspect!(tokens.subarray(start, end)));
    start = end;
  }
  return texts;
}

const [shop] = shopConversations("shop", 1);
const say = (role: string, content: string, rest: object = {}) => ({ role, content, ...rest });

describe.each(["qwen2_5", "qwen3", "llama3_2"] as const)("%s", (model) => {
  const renderer = rendererOf(model);

  it("has the tokens that the renderer gives for the whole conversation", () => {
    const { messages, tools } = parseConversation(shop, "here");
    const [row, ...others] = render(renderer, shop);
    expect(others).toEqual([]);
    // What follows the last response is the opening of the next turn.
    const next = { role: "user", content: "More" } as const;
    const whole = renderer.render([...messages, next], { tools }).tokens;
    // Qwen 3's template drops the empty think block of a turn that is not the last.
    if (model === "qwen3") expect(row!.tokens.length).toBeGreaterThan(0);
    else expect(whole.subarray(0, row!.tokens.length)).toEqual(row!.tokens);
  });

  it("trains on what the assistant says, its stop token included, and nothing else", () => {
    const [row] = render(renderer, shop);
    const texts = trainedTexts(renderer, row!);
    expect(texts).toHaveLength(3);
    const stops = renderer.stop.tokenIds.map((id) => renderer.inspect!(Int32Array.of(id)));
    for (const text of texts) expect(stops.some((stop) => text.endsWith(stop))).toBe(true);
    expect(texts[0]).toContain("get_price");
    expect(texts[1]).toContain("multiply");
    expect(texts.join("")).not.toContain("How much");
    expect(texts.join("")).not.toContain("shop assistant");
  });

  it("gives responses that read back as the message, and prompts that the gateway would send", () => {
    const { messages, tools } = parseConversation(shop, "here");
    const [row] = render(renderer, shop);
    const start = row!.mask.indexOf(1);
    const prompt = renderer.render(messages.slice(0, 2), { tools }).tokens;
    expect(row!.tokens.subarray(0, start)).toEqual(prompt);
    const end = row!.mask.indexOf(0, start);
    const [call] = renderer.parse(row!.tokens.subarray(start, end)).toolCalls;
    expect(call!.name).toBe("get_price");
    const later = row!.mask.indexOf(1, end);
    const extended = renderer.extend(row!.tokens.slice(0, end), messages.slice(3, 4), { tools });
    expect(extended!.tokens).toEqual(row!.tokens.slice(0, later));
  });
});

describe("reasoning", () => {
  const messages = [
    say("user", "1+1?"),
    say("assistant", "2", { reasoning_content: "One and one." }),
    say("user", "And 2+2?"),
    say("assistant", "4", { reasoning_content: "Twice two." }),
  ];

  it("stays in every turn, as it was sampled", () => {
    const renderer = rendererOf("qwen3");
    const rows = render(renderer, { messages });
    expect(rows).toHaveLength(1);
    expect(trainedTexts(renderer, rows[0]!)).toEqual([
      "<think>\nOne and one.\n</think>\n\n2<|im_end|>",
      "<think>\nTwice two.\n</think>\n\n4<|im_end|>",
    ]);
  });

  it("is refused for a model that cannot write it, with file and line", () => {
    expect(() => render(rendererOf("qwen2_5"), { messages })).toThrow(
      /^data\.jsonl:7: .*reasoning/u,
    );
  });
});

describe("what is trained on", () => {
  const renderer = rendererOf("qwen2_5");
  const messages = [
    say("user", "a"),
    say("assistant", "first", { weight: 0 }),
    say("user", "b"),
    say("assistant", "second"),
    say("user", "c"),
    say("assistant", "third"),
  ];
  const texts = (row: unknown, trainOn?: "all" | "last") =>
    render(renderer, row, trainOn).flatMap((one) => trainedTexts(renderer, one));

  it("is every assistant message but those of weight 0", () => {
    expect(texts({ messages })).toEqual(["second<|im_end|>", "third<|im_end|>"]);
  });
  it("is the last one, where that is asked for", () => {
    expect(texts({ messages }, "last")).toEqual(["third<|im_end|>"]);
  });
  it("is the completion of a prompt", () => {
    const prompt = messages.slice(2, 5);
    expect(texts({ prompt, completion: [say("assistant", "x")] })).toEqual(["x<|im_end|>"]);
    expect(texts({ prompt: "Q", completion: "A" })).toEqual(["A<|im_end|>"]);
  });
});

const result = (id: string): object => ({ role: "tool", tool_call_id: id, content: "4" });
const called = (given: string, id = "1"): readonly object[] => [
  say("user", "a"),
  {
    role: "assistant",
    tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: given } }],
  },
  result(id),
  say("assistant", "b"),
];

describe("a row that cannot be used names its file and line", () => {
  const bad: readonly (readonly [string, unknown, RegExp])[] = [
    ["a list", [], /must be a JSON object/u],
    ["nothing known", { text: "a" }, /needs messages, or prompt and completion, but it has text/u],
    ["no messages", { messages: [] }, /at least one message/u],
    ["no assistant", { messages: [say("user", "a")] }, /no assistant message/u],
    ["a role", { messages: [say("robot", "a")] }, /messages\[0\]\.role/u],
    ["a weight", { messages: [say("user", "a"), say("assistant", "b", { weight: 2 })] }, /weight/u],
    ["a tool", { messages: [say("user", "a"), say("assistant", "b")], tools: [{}] }, /tools\[0\]/u],
    [
      "an image",
      {
        messages: [
          say("user", "a"),
          { role: "assistant", content: [{ type: "image_url", image_url: { url: "x" } }] },
        ],
      },
      /text only/u,
    ],
    ["neither text nor calls", { messages: [say("user", "a"), { role: "assistant" }] }, /neither/u],
    ["arguments that are not JSON", { messages: called("{a:") }, /arguments is not a JSON object/u],
    ["arguments that are a list", { messages: called("[1]") }, /\[1\]\.tool_calls\[0\]\.function/u],
    ["a result of no call", { messages: [say("user", "a"), result("1")] }, /no tool was called/u],
    ["the result of another call", { messages: called("{}", "2") }, /tool_call_id is "2"/u],
    ["an opening by the assistant", { messages: [say("assistant", "a")] }, /follows no other/u],
  ];
  const renderer = rendererOf("qwen2_5");
  it.each(bad)("%s", (_, row, message) => {
    expect(() => render(renderer, row)).toThrow(message);
    expect(() => render(renderer, row)).toThrow(/^data\.jsonl:7: /u);
  });
});

it("has responses of any length", () => {
  const renderer = rendererOf("qwen2_5");
  // A template that does not write the message, so that its text is encoded.
  const prompt = renderer.render([{ role: "user", content: "Q" }]);
  const message = { role: "assistant", content: " a".repeat(150_000) } as const;
  const tokens = responseTokens({ ...renderer, render: () => prompt }, message, [], "here");
  expect(tokens.length).toBeGreaterThan(150_000);
});

describe("pairs", () => {
  const prompt = [say("user", "Q")];
  const [chosen, rejected] = [[say("assistant", "good")], [say("assistant", "bad")]];
  const expected = parsePreference({ prompt, chosen, rejected }, "here");

  it.each([
    ["whole conversations", { chosen: [...prompt, ...chosen], rejected: [...prompt, ...rejected] }],
    ["texts", { prompt: "Q", chosen: "good", rejected: "bad" }],
    [
      "OpenAI's format",
      { input: { messages: prompt }, preferred_output: chosen, non_preferred_output: rejected },
    ],
  ])("of %s are the same", (_, row) => {
    expect(parsePreference(row, "here")).toEqual(expected);
  });
  it.each([
    [{ chosen: "a", rejected: "b" }, /needs a prompt/u],
    [{ prompt: "a", chosen: "b" }, /needs prompt, chosen and rejected/u],
    [{ chosen: prompt, rejected: prompt }, /must differ/u],
    [{ prompt: "a", chosen: "b", rejected: "b" }, /chosen and rejected are the same/u],
  ])("%j are refused", (row, message) => {
    expect(() => parsePreference(row, "pairs.jsonl:3")).toThrow(message);
  });
});
