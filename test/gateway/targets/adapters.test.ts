/** Every kind of server, in both token modes: what the client sees and what is captured. */
import { describe, expect, it } from "vitest";
import type { Trace } from "../../../src/core/trace.ts";
import {
  byteTokens,
  scriptedLogprob,
  createUpstream,
  type Script,
  type UpstreamOptions,
} from "../../../src/testing/index.ts";
import { openWorld, renderer } from "../http-world.ts";

type Kind = NonNullable<UpstreamOptions["kind"]>;

const messages = [{ role: "user", content: "q" }];
const script: Script = ({ index, choice }) => `<think>so</think>héllo ${index}${choice}`;

async function textOf(response: Response): Promise<string> {
  const text = await response.text();
  if (!(response.headers.get("content-type") ?? "").startsWith("text/event-stream")) {
    const { choices } = JSON.parse(text) as { choices: { message: { content: string } }[] };
    return choices.map(({ message }) => message.content).join("|");
  }
  const events = text.split("\n\n").filter((event) => event.startsWith("data: {"));
  return events
    .map((event) => JSON.parse(event.slice(6)) as { choices: { delta?: { content?: string } }[] })
    .map(({ choices }) => choices[0]?.delta?.content ?? "")
    .join("");
}

function expectSampled(trace: Trace | undefined, said: string): void {
  const ids = [...new TextEncoder().encode(said), byteTokens.turnEnd];
  expect(Array.from(trace?.responseIds ?? [])).toEqual(ids);
  expect(Array.from(trace?.logprobs ?? [])).toEqual(ids.map((id, i) => scriptedLogprob(id, i)));
  expect(trace?.untrainable).toBeUndefined();
}

describe.each(["vllm", "sglang", "llamacpp"] as const)("prompts as token ids to %s", (kind) => {
  // It tells nothing of the first byte of an é.
  const word = kind === "llamacpp" ? "hello" : "héllo";
  it.each([false, true])("are drawn from, and continued by id (streamed: %s)", async (stream) => {
    await using upstream = await createUpstream({
      kind,
      script: ({ index, choice }) => `<think>so</think>${word} ${index}${choice}`,
    });
    await using world = await openWorld({ workers: [{ url: upstream.url }], renderer });
    expect(await textOf(await world.post({ messages, stream }))).toBe(`${word} 00`);
    const later = [...messages, { role: "assistant", content: `${word} 00` }, ...messages];
    expect(await textOf(await world.post({ messages: later, stream }))).toBe(`${word} 10`);
    const [first, second] = (await world.session.traces()) as [Trace, Trace];
    expectSampled(first, `<think>so</think>${word} 00`);
    expectSampled(second, `<think>so</think>${word} 10`);
    expect(first.promptIds).toEqual(renderer.render([{ role: "user", content: "q" }]).tokens);
    expect(second.parentId).toBe(first.id);
    const before = [...first.promptIds, ...first.responseIds];
    expect(Array.from(second.promptIds.subarray(0, before.length))).toEqual(before);
    expect(first.worker).toBe(second.worker);
    expect(first.logprobKind).toBe(kind === "sglang" ? "processed" : "raw");
    expect(upstream.calls[0]?.path).toBe(
      { vllm: "/v1/completions", sglang: "/generate", llamacpp: "/completion" }[kind],
    );
  });

  it("gives every choice of n", async () => {
    await using upstream = await createUpstream({
      kind,
      script: ({ choice, index }) => `c${choice}${index}`,
    });
    await using world = await openWorld({ workers: [{ url: upstream.url }], renderer });
    const said = (await textOf(await world.post({ messages, n: 3 }))).split("|");
    expect(new Set(said).size).toBe(3);
    const traces = await world.session.traces();
    for (const [i, trace] of traces.entries()) expectSampled(trace, said[i] as string);
  });

  it("stops at a string, with the ids up to it", async () => {
    await using upstream = await createUpstream({ kind, script: () => "one, two, three" });
    await using world = await openWorld({ workers: [{ url: upstream.url }], renderer });
    expect(await textOf(await world.post({ messages, stop: [", t"] }))).toBe("one");
    const [trace] = await world.session.traces();
    expect(renderer.decode(trace?.responseIds as Int32Array)).toBe("one, t");
    expect(trace?.stopReason).toBe("stop");
  });
});

describe.each([
  ["vllm", undefined],
  ["sglang", undefined],
  ["llamacpp", /no token ids of the prompt/],
  ["openai", /no token ids of its answer/],
] as const)("messages to %s", (kind: Kind, lack) => {
  it.each([false, true])("are answered and captured (streamed: %s)", async (stream) => {
    await using upstream = await createUpstream({ kind, script });
    await using world = await openWorld({ workers: [{ url: upstream.url }] });
    const body = { messages, stream, temperature: 0.5, max_tokens: 100 };
    expect(await textOf(await world.post(body))).toBe("héllo 00");
    const [trace] = (await world.session.traces()) as [Trace];
    expect(trace.response).toMatchObject({ content: "héllo 00", reasoning: "so" });
    expect(trace.sampling).toMatchObject({ temperature: 0.5, maxTokens: 100 });
    expect(upstream.calls[0]?.body).toMatchObject({ temperature: 0.5, max_tokens: 100 });
    if (lack) expect(trace.untrainable).toMatch(lack);
    else {
      expectSampled(trace, "<think>so</think>héllo 00");
      expect(trace.promptIds).toEqual(renderer.render([{ role: "user", content: "q" }]).tokens);
    }
  });
});

it("writes out every sampling parameter, since servers fill in what is missing", async () => {
  await using upstream = await createUpstream({ script });
  await using world = await openWorld({ workers: [{ url: upstream.url }] });
  await world.post({ messages });
  expect(upstream.calls[0]?.body).toMatchObject({
    temperature: 1,
    top_p: 1,
    top_k: -1,
    min_p: 0,
    repetition_penalty: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    seed: expect.any(Number),
  });
});

it("refuses prompts of ids for servers that take none", async () => {
  await using upstream = await createUpstream({ kind: "openai", script });
  await using world = await openWorld({
    workers: [{ url: upstream.url }],
    renderer,
    contextLength: 500,
  });
  const response = await world.post({ messages });
  expect(response.status).toBe(502);
  expect(await response.json()).toMatchObject({
    error: { message: expect.stringContaining("takes no prompts of token ids") },
  });
});

it("takes the kind that is said over what the server seems to be", async () => {
  await using upstream = await createUpstream({ kind: "vllm", script });
  await using world = await openWorld({ workers: [{ url: upstream.url, kind: "openai" }] });
  await world.post({ messages });
  expect(upstream.calls[0]?.body).not.toHaveProperty("return_token_ids");
});

describe("SGLang's streams of what is drawn", () => {
  interface Event {
    readonly output_ids: readonly number[];
    readonly meta_info: { readonly output_token_logprobs: readonly unknown[] };
  }
  const rewritten = (rewrite: (event: Event) => Event): ReturnType<typeof createUpstream> =>
    createUpstream({
      kind: "sglang",
      script: () => "héllo",
      fault: () => ({ type: "rewrite", rewrite: (json) => rewrite(json as Event) }),
    });

  it("may tell only what is new, as servers started so do", async () => {
    await using upstream = await rewritten(({ output_ids: ids, meta_info: meta }) => ({
      output_ids: ids.slice(-1),
      meta_info: { ...meta, output_token_logprobs: meta.output_token_logprobs.slice(-1) },
    }));
    await using world = await openWorld({ workers: [{ url: upstream.url }], renderer });
    expect(await textOf(await world.post({ messages, stream: true }))).toBe("héllo");
    expectSampled((await world.session.traces())[0], "héllo");
  });

  it("must not take back what they have told", async () => {
    await using upstream = await rewritten(({ output_ids: ids, meta_info: meta }) => {
      const isLater = ids.length > 2;
      const logprobs = meta.output_token_logprobs.map((each, i) =>
        isLater && i === 0 ? [-1, 120, null] : each,
      );
      return { output_ids: ids, meta_info: { ...meta, output_token_logprobs: logprobs } };
    });
    const options = { workers: [{ url: upstream.url }], renderer, maxAttempts: 1 };
    await using world = await openWorld(options);
    const text = await (await world.post({ messages, stream: true })).text();
    expect(text).toContain("changed tokens that it had sent");
    expect(await world.session.traces()).toEqual([]);
  });
});
