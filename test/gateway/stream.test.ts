import { describe, expect, it } from "vitest";
import { createByteRenderer, scriptedLogprob } from "../../src/testing/index.ts";
import {
  createTestGateway,
  gate,
  readChunks,
  readEvents,
  userSays,
  weatherTool,
  type WireChunk,
} from "./function-client.ts";

const messages = [userSays("q")];
const toolText = '<tool_call>{"name": "weather", "arguments": {"city": "Oslo"}}</tool_call>';

function contentsOf(chunks: readonly WireChunk[], index = 0): string[] {
  return chunks
    .flatMap((chunk) => chunk.choices)
    .filter((choice) => choice.index === index)
    .map((choice) => choice.delta.content ?? "")
    .filter((content) => content !== "");
}

describe("a stream", () => {
  it("sends the role, every token as it is drawn, the reason and the end", async () => {
    const { open } = createTestGateway(() => "héy");
    const session = await open();
    const response = await session.post({ messages, stream: true });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const chunks = await readChunks(response);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta)).toEqual([
      { role: "assistant", content: "" },
      { content: "h" },
      { content: "é" },
      { content: "y" },
      {},
    ]);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("stop");
    expect(chunks.every((chunk) => chunk.usage === undefined)).toBe(true);
    const [trace] = await session.traces();
    expect(new Set(chunks.map((chunk) => chunk.id))).toEqual(new Set([trace?.response_id]));
    expect(trace?.completion_token_ids).toHaveLength(5);
  });

  it("arrives while the sampler is still drawing", async () => {
    const hold = gate();
    const { open } = createTestGateway(() => "ab", {
      beforeChunk: (_, sampled) => (sampled === 1 ? hold.opened : undefined),
    });
    const session = await open();
    const response = await session.post({ messages, stream: true });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let seen = "";
    while (!seen.includes('"content":"a"')) seen += (await reader?.read())?.value ?? "";
    expect(seen).not.toContain("[DONE]");
    hold.open();
    while (!seen.includes("[DONE]")) seen += (await reader?.read())?.value ?? "";
    expect(seen).toContain('"content":"b"');
  });

  it("stores the trace before its last byte", async () => {
    const { open } = createTestGateway(() => "a");
    const session = await open();
    await readChunks(await session.post({ messages, stream: true }));
    expect(await session.traces()).toHaveLength(1);
  });

  it("sends usage and log-probabilities when asked", async () => {
    const { open } = createTestGateway(() => "a");
    const session = await open();
    const body = {
      messages,
      stream: true,
      logprobs: true,
      stream_options: { include_usage: true },
    };
    const chunks = await readChunks(await session.post(body));
    const prompt = createByteRenderer().render([userSays("q")]).tokens.length;
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: prompt + 2 } });
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
    const logprobs = chunks.at(-2)?.choices[0]?.logprobs?.content.map((item) => item.logprob);
    expect(logprobs).toEqual([scriptedLogprob(97, 0), scriptedLogprob(257, 1)]);
  });

  it("never leaks a tool call as content", async () => {
    const { open } = createTestGateway(() => `Let me see.\n${toolText}${toolText}`);
    const session = await open();
    const chunks = await readChunks(
      await session.post({ messages, tools: [weatherTool], stream: true }),
    );
    expect(contentsOf(chunks).join("")).toBe("Let me see.");
    expect(contentsOf(chunks).length).toBeGreaterThan(5);
    const calls = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
    expect(calls.map((call) => [call.index, call.function])).toEqual(
      [0, 1].flatMap((index) => [
        [index, { name: "weather", arguments: "" }],
        [index, { arguments: '{"city":"Oslo"}' }],
      ]),
    );
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("tool_calls");
    const [trace] = await session.traces();
    expect(trace?.response_message.tool_calls?.map((call) => call.id)).toEqual(
      calls.filter((call) => "id" in call).map((call) => call.id),
    );
  });

  it("holds text back only while it may become something else", async () => {
    const text = "a < b <t> <answer>4</answer> [x] {y}\n\n end";
    const { open } = createTestGateway(() => text);
    const chunks = await readChunks(
      await (await open()).post({ messages, tools: [weatherTool], stream: true }),
    );
    const contents = contentsOf(chunks);
    expect(contents.join("")).toBe(text);
    expect(contents.length).toBeGreaterThan(25);
  });

  it("sends reasoning apart", async () => {
    const { open } = createTestGateway(() => "<think>let me think</think>yes, sure");
    const chunks = await readChunks(await (await open()).post({ messages, stream: true }));
    const reasoning = chunks.map((chunk) => chunk.choices[0]?.delta.reasoning_content ?? "");
    expect(reasoning.join("")).toBe("let me think");
    expect(reasoning.filter((text) => text !== "").length).toBeGreaterThan(3);
    expect(contentsOf(chunks).join("")).toBe("yes, sure");
  });

  it("never shows the beginning of a stop string", async () => {
    const { open } = createTestGateway(() => "one EN two END three");
    const session = await open();
    const chunks = await readChunks(await session.post({ messages, stop: "END", stream: true }));
    expect(contentsOf(chunks).join("")).toBe("one EN two ");
    const [trace] = await session.traces();
    expect(trace?.response_message.content).toBe("one EN two ");
    expect(trace?.completion_token_ids).toHaveLength("one EN two END".length);
  });

  it("keeps the choices of n apart", async () => {
    const { open } = createTestGateway(({ choice }) => ["left", "right"][choice] ?? "");
    const session = await open();
    const chunks = await readChunks(await session.post({ messages, n: 2, stream: true }));
    expect(contentsOf(chunks, 0).join("")).toBe("left");
    expect(contentsOf(chunks, 1).join("")).toBe("right");
    const finished = chunks
      .flatMap((chunk) => chunk.choices)
      .filter((choice) => choice.finish_reason);
    expect(finished.map((choice) => choice.index)).toEqual([0, 1]);
    expect(await session.traces()).toHaveLength(2);
  });

  it("shows and records the same bytes, whatever they are", async () => {
    const ids = [0xf0, 0x9f, 0x98, 0x80, 0xff, 0x61, 0xe2, 0x82, 257];
    const { open } = createTestGateway(() => ids);
    const session = await open();
    const chunks = await readChunks(await session.post({ messages, stream: true }));
    const [trace] = await session.traces();
    expect(contentsOf(chunks).join("")).toBe(trace?.response_message.content);
    expect(contentsOf(chunks).join("")).toBe("😀\uFFFDa\uFFFD");
    expect(contentsOf(chunks)[0]).toBe("😀");
    expect(trace?.completion_token_ids).toEqual(ids);
  });

  it("can be continued id by id", async () => {
    const { open } = createTestGateway(() => `see ${toolText}`);
    const session = await open();
    const body = { messages, tools: [weatherTool], stream: true };
    await readChunks(await session.post(body));
    const [first] = await session.traces();
    const next = [...messages, first?.response_message, userSays("next")];
    await readChunks(await session.post({ ...body, messages: next }));
    const [, second] = await session.traces();
    expect(second?.parent_trace_id).toBe(first?.trace_id);
  });

  it("answers an early failure with its status, a late one in the stream", async () => {
    const hold = gate();
    let failAt = 0;
    const { open } = createTestGateway(() => "abc", {
      beforeChunk: async (_, sampled) => {
        if (sampled !== failAt) return;
        if (sampled > 0) await hold.opened;
        throw new Error("secret");
      },
    });
    const session = await open();
    const early = await session.post({ messages, stream: true });
    expect(early.status).toBe(500);
    failAt = 2;
    const late = await session.post({ messages, stream: true });
    expect(late.status).toBe(200);
    hold.open();
    const events = await readEvents(late);
    expect(events.at(-1)).toContain('"code":"internal_error"');
    expect(events.join("")).not.toContain("secret");
    expect(await session.traces()).toEqual([]);
  });
});
