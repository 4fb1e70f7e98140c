import { describe, expect, it } from "vitest";
import { ContextOverflowError } from "../core/errors.ts";
import type { ChatMessage } from "../core/message.ts";
import { defaultSampling, type SampleChunk, type SampleRequest } from "../core/policy.ts";
import { createByteRenderer, scriptedLogprob, createScriptedSampler } from "./index.ts";

const renderer = createByteRenderer();
const bytes = (text: string): number[] => Array.from(new TextEncoder().encode(text));

function request(text: string, fields: Partial<SampleRequest> = {}): SampleRequest {
  const params = { ...defaultSampling, seed: 0, stopTokenIds: [257] };
  return { tokens: renderer.render([{ role: "user", content: text }]).tokens, params, ...fields };
}

describe("createScriptedSampler", () => {
  it("says what the script says, in chunks that add up", async () => {
    const sampler = createScriptedSampler(
      ({ text, index, choice }) => `${text.length > 0} ${index} ${choice}`,
      {
        chunkSize: 3,
        weightVersion: 2,
      },
    );
    const chunks: SampleChunk[] = [];
    const [first, second] = await sampler.sample(
      request("a", { n: 2, onChunk: (c) => chunks.push(c) }),
    );
    const sampled = [...bytes("true 0 1"), 257];
    expect(Array.from(second?.tokens ?? [])).toEqual(sampled);
    expect(second).toMatchObject({ stopReason: "stop", weightVersion: 2 });
    expect(Array.from(second?.logprobs ?? [])).toEqual(
      sampled.map((id, i) => scriptedLogprob(id, i)),
    );
    for (const [index, sample] of [first, second].entries()) {
      const own = chunks.filter((chunk) => chunk.index === index);
      expect(own.flatMap((chunk) => Array.from(chunk.tokens))).toEqual(
        Array.from(sample?.tokens ?? []),
      );
      expect(own.flatMap((chunk) => Array.from(chunk.logprobs))).toEqual(
        Array.from(sample?.logprobs ?? []),
      );
    }
  });

  it("stops at maxTokens, at the end of the context, and at stop ids", async () => {
    const { params } = request("a");
    const length = request("a").tokens.length;
    const sampler = createScriptedSampler([[1, 2, 257, 3], "abc", "abc"], {
      contextLength: length + 2,
    });
    expect(Array.from((await sampler.sample(request("a")))[0]?.tokens ?? [])).toEqual([1, 2]);
    const wide = createScriptedSampler([[1, 2, 257, 3], "abc"]);
    expect((await wide.sample(request("a")))[0]).toMatchObject({
      stopReason: "stop",
      tokens: { length: 3 },
    });
    const short = { ...params, maxTokens: 2 };
    expect((await wide.sample(request("a", { params: short })))[0]).toMatchObject({
      stopReason: "length",
      tokens: { length: 2 },
    });
    await expect(sampler.sample(request("abc"))).rejects.toBeInstanceOf(ContextOverflowError);
    await expect(wide.sample(request("a"))).rejects.toThrow("call 2 has none");
  });

  it("ends with what was drawn when it is aborted", async () => {
    const controller = new AbortController();
    const sampler = createScriptedSampler(() => "abcdef");
    const [sample] = await sampler.sample(
      request("a", {
        signal: controller.signal,
        onChunk: ({ tokens }) => {
          if (tokens[0] === 98) controller.abort();
        },
      }),
    );
    expect(Array.from(sample?.tokens ?? [])).toEqual([97, 98]);
    expect(sample?.logprobs).toHaveLength(2);
    expect(sample?.stopReason).toBe("aborted");
  });
});

describe("createByteRenderer", () => {
  const response: ChatMessage = {
    role: "assistant",
    content: "hé",
    toolCalls: [{ id: "x", name: "f", arguments: '{"a":1}' }],
  };

  it("extends to what it would have rendered", () => {
    const question: ChatMessage = { role: "user", content: "q" };
    const next: ChatMessage = { role: "tool", content: "r", toolCallId: "x" };
    const { tokens } = renderer.render([question]);
    const body = '\n<tool_call>{"name": "f", "arguments": {"a":1}}</tool_call>';
    const whole = renderer.render([question, response, next]).tokens;
    for (const end of [[], [257]]) {
      const previous = Int32Array.from([...tokens, ...bytes(`hé${body}`), ...end]);
      expect(renderer.extend(previous, [next])?.tokens).toEqual(whole);
    }
  });

  it("reads what it writes", () => {
    const text = 'hé\n<tool_call>{"name": "f", "arguments": {"a":1}}</tool_call>';
    const toolCalls = [{ name: "f", arguments: '{"a":1}' }];
    expect(renderer.parse(Int32Array.from([...bytes(text), 257]))).toEqual({
      content: "hé",
      toolCalls,
    });
    for (const broken of [
      "<tool_call>{}</tool_call>",
      "<tool_call>{",
      "<tool_call>1</tool_call>",
    ]) {
      const parsed = renderer.parse(Int32Array.from(bytes(broken)));
      expect(parsed).toMatchObject({ content: broken, toolCalls: [] });
      expect(parsed.malformed).toBeDefined();
    }
    expect(renderer.parse(Int32Array.of(0xff))).toEqual({ content: "\uFFFD", toolCalls: [] });
  });
});
