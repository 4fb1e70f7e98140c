import { describe, expect, it } from "vitest";
import { createByteRenderer, scriptedLogprob } from "../../src/testing/index.ts";
import { createTestGateway, userSays, weatherTool, type WireError } from "./function-client.ts";
import { fromWireTrace } from "./wire-trace.ts";

const renderer = createByteRenderer();
const bytes = (text: string): number[] => Array.from(new TextEncoder().encode(text));

describe("a plain call", () => {
  it("answers in OpenAI's shape and captures it token by token", async () => {
    const { open } = createTestGateway(() => "héllo", { weightVersion: 7 });
    const session = await open();
    const response = await session.complete({ model: "asked-for", messages: [userSays("hi")] });
    expect(response).toMatchObject({
      object: "chat.completion",
      model: "scripted",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "héllo" },
          finish_reason: "stop",
          logprobs: null,
        },
      ],
    });
    const sampled = [...bytes("héllo"), 257];
    const prompt = Array.from(renderer.render([userSays("hi")]).tokens);
    expect(response.usage).toEqual({
      prompt_tokens: prompt.length,
      completion_tokens: sampled.length,
      total_tokens: prompt.length + sampled.length,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    });
    expect(await session.traces()).toMatchObject([
      {
        response_id: response.id,
        session_id: "session-0",
        trajectory_id: null,
        sequence: 0,
        choice: 0,
        protocol: "openai-chat",
        model: "asked-for",
        messages: [userSays("hi")],
        response_message: { role: "assistant", content: "héllo" },
        prompt_token_ids: prompt,
        completion_token_ids: sampled,
        logprobs: sampled.map((token, i) => scriptedLogprob(token, i)),
        logprob_kind: "raw",
        finish_reason: "stop",
        weight_version: 7,
        parent_trace_id: null,
        untrainable: null,
      },
    ]);
  });

  it("takes text parts, developer messages and fields that change nothing", async () => {
    const { open, sampler } = createTestGateway(() => "ok");
    const session = await open();
    await session.complete({
      model: "m",
      messages: [
        { role: "developer", content: "be kind" },
        {
          role: "user",
          content: [
            { type: "text", text: "a" },
            { type: "text", text: "b" },
          ],
        },
      ],
      ...{ user: "u", metadata: { a: "b" }, store: true, parallel_tool_calls: false },
      ...{ frequency_penalty: 0, presence_penalty: null, logit_bias: {}, tool_choice: "auto" },
      ...{ response_format: { type: "text" }, top_logprobs: 0, something_new: [1] },
    });
    const expected = renderer.render([
      { role: "system", content: "be kind" },
      { role: "user", content: "ab" },
    ]);
    expect(sampler.requests[0]?.tokens).toEqual(expected.tokens);
  });

  it("gives log-probabilities of the drawn tokens when asked", async () => {
    const { open } = createTestGateway(() => "ab");
    const session = await open();
    const messages = [userSays("x")];
    const response = await session.complete({ messages, logprobs: true });
    expect(response.choices[0]?.logprobs).toEqual({
      content: [
        { token: "a", logprob: scriptedLogprob(97, 0), bytes: [97], top_logprobs: [] },
        { token: "b", logprob: scriptedLogprob(98, 1), bytes: [98], top_logprobs: [] },
        { token: "", logprob: scriptedLogprob(257, 2), bytes: [], top_logprobs: [] },
      ],
      refusal: null,
    });
    await session.complete({ messages, logprobs: false });
    const [, unasked] = await session.traces();
    expect(unasked?.logprobs).toHaveLength(3);
  });

  it("tells log-probabilities before and after an enforced temperature, and captures both", async () => {
    const { open } = createTestGateway(() => "ab<stop>c", { chunkSize: 1 });
    const session = await open({ sampling_params: { temperature: 0.5 } });
    const messages = [userSays("x")];
    // The scripted policy's, divided by the temperature; what comes after the stop string is cut.
    const raw = [...bytes("ab<stop>")].map((token, i) => scriptedLogprob(token, i));
    const tempered = raw.map((logprob) => Math.fround(logprob / 0.5));
    const response = await session.complete({ messages, logprobs: true, stop: ["<stop>"] });
    expect(response.choices[0]?.logprobs?.content.map(({ logprob }) => logprob)).toEqual(raw);
    expect(response.choices[0]?.logprobs?.content).toMatchObject(
      tempered.map((logprob) => ({ sampling_logprob: logprob })),
    );
    const [wire] = await session.traces();
    expect(wire).toMatchObject({ logprobs: raw, logprob_kind: "raw", tempered_logprobs: tempered });
    expect(fromWireTrace(wire as unknown as Record<string, unknown>)).toMatchObject({
      logprobs: Float32Array.from(raw),
      temperedLogprobs: Float32Array.from(tempered),
    });
    // At temperature 1 there is one kind only.
    const plain = await open({});
    const other = await plain.complete({ messages, logprobs: true });
    expect(other.choices[0]?.logprobs?.content[0]).not.toHaveProperty("sampling_logprob");
    const [without] = await plain.traces();
    expect(without).toMatchObject({ tempered_logprobs: null });
    expect(fromWireTrace(without as unknown as Record<string, unknown>)).not.toHaveProperty(
      "temperedLogprobs",
    );
  });

  it("captures every choice of n", async () => {
    const { open } = createTestGateway(({ choice }) => `answer ${choice}`);
    const session = await open();
    const response = await session.complete({ messages: [userSays("x")], n: 3 });
    const contents = ["answer 0", "answer 1", "answer 2"];
    expect(response.choices.map((choice) => choice.message.content)).toEqual(contents);
    const traces = await session.traces();
    expect(traces.map((trace) => trace.response_message.content)).toEqual(contents);
    expect(traces.map(({ sequence, choice }) => [sequence, choice])).toEqual([
      [0, 0],
      [0, 1],
      [0, 2],
    ]);
    expect(new Set(traces.map((trace) => trace.response_id))).toEqual(new Set([response.id]));
    expect(new Set(traces.map((trace) => trace.trace_id)).size).toBe(3);
  });

  it("separates reasoning from the answer", async () => {
    const { open } = createTestGateway(() => "<think>hm</think>yes");
    const response = await (await open()).complete({ messages: [userSays("x")] });
    expect(response.choices[0]?.message).toMatchObject({ reasoning_content: "hm", content: "yes" });
  });
});

describe("tools", () => {
  const twoCalls =
    'Let me see.\n<tool_call>{"name": "weather", "arguments": {"city": "Oslo"}}</tool_call>' +
    '<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call>';

  it("returns parallel calls with ids of their own", async () => {
    const { open, sampler } = createTestGateway(() => twoCalls);
    const session = await open();
    const messages = [userSays("compare")];
    const response = await session.complete({ messages, tools: [weatherTool] });
    const [choice] = response.choices;
    expect(choice?.finish_reason).toBe("tool_calls");
    expect(choice?.message.content).toBe("Let me see.");
    expect(choice?.message.tool_calls?.map((call) => call.function)).toEqual([
      { name: "weather", arguments: '{"city":"Oslo"}' },
      { name: "weather", arguments: '{"city":"Rome"}' },
    ]);
    const ids = choice?.message.tool_calls?.map((call) => call.id) ?? [];
    expect(new Set(ids).size).toBe(2);
    const tools = [weatherTool.function];
    expect(sampler.requests[0]?.tokens).toEqual(renderer.render(messages, { tools }).tokens);
  });

  it("does not show tools to the model when tool_choice is none, and returns what it writes as text", async () => {
    const { open, sampler } = createTestGateway(() => twoCalls);
    const session = await open();
    const messages = [userSays("compare")];
    const response = await session.complete({
      messages,
      tools: [weatherTool],
      tool_choice: "none",
    });
    expect(response.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { content: twoCalls },
    });
    expect(response.choices[0]?.message.tool_calls).toBeUndefined();
    expect(sampler.requests[0]?.tokens).toEqual(renderer.render(messages).tokens);
  });

  it("keeps a call that cannot be read as content, and says so in the trace", async () => {
    const broken = '<tool_call>{"name": "weather", </tool_call>';
    const { open } = createTestGateway(() => broken);
    const session = await open();
    const response = await session.complete({ messages: [userSays("x")], tools: [weatherTool] });
    expect(response.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { content: broken },
    });
    expect((await session.traces())[0]?.malformed).toContain("tool call");
  });
});

describe("stop strings", () => {
  it("ends the sampler and cuts the ids after the token that completes the string", async () => {
    let sampledAtMost = 0;
    const { open } = createTestGateway(() => "one END two END", {
      beforeChunk: (_, sampled) => {
        sampledAtMost = Math.max(sampledAtMost, sampled);
      },
    });
    const session = await open();
    const response = await session.complete({
      messages: [userSays("x")],
      stop: ["nothing", " END"],
    });
    expect(response.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { content: "one" },
    });
    const [trace] = await session.traces();
    expect(trace?.completion_token_ids).toEqual(bytes("one END"));
    expect(trace?.logprobs).toHaveLength(7);
    expect(trace?.finish_reason).toBe("stop");
    expect(trace?.untrainable).toBeNull();
    expect(sampledAtMost).toBe(7);
  });

  it("cuts inside a chunk of several tokens", async () => {
    const { open } = createTestGateway(() => "abcdefgh", { chunkSize: 5 });
    const session = await open();
    const response = await session.complete({ messages: [userSays("x")], stop: "bc" });
    expect(response.choices[0]?.message.content).toBe("a");
    const [trace] = await session.traces();
    expect(trace?.completion_token_ids).toEqual(bytes("abc"));
    expect(trace?.logprobs).toEqual(bytes("abc").map((token, i) => scriptedLogprob(token, i)));
  });

  it("lets the other choices go on", async () => {
    const { open } = createTestGateway(({ choice }) => (choice === 0 ? "a|b" : "longer answer"));
    const session = await open();
    const response = await session.complete({ messages: [userSays("x")], stop: "|", n: 2 });
    expect(response.choices.map((choice) => choice.message.content)).toEqual([
      "a",
      "longer answer",
    ]);
    const traces = await session.traces();
    expect(traces[0]?.completion_token_ids).toEqual(bytes("a|"));
    expect(traces[1]?.completion_token_ids).toEqual([...bytes("longer answer"), 257]);
  });
});

describe("sampling", () => {
  it("lets the session win over the client and records what was used", async () => {
    const { open, sampler } = createTestGateway(() => "a long answer");
    const session = await open({ sampling_params: { temperature: 0.7, max_tokens: 3 } });
    const response = await session.complete({
      messages: [userSays("x")],
      ...{ temperature: 0, top_p: 0.5, max_completion_tokens: 100, top_k: -1 },
    });
    expect(response.choices[0]).toMatchObject({
      finish_reason: "length",
      message: { content: "a l" },
    });
    const used = { temperature: 0.7, topP: 0.5, topK: 0, minP: 0, maxTokens: 3 };
    expect(sampler.requests[0]?.params).toMatchObject({ ...used, stopTokenIds: [257] });
    expect((await session.traces())[0]?.sampling_params).toMatchObject({
      ...{ temperature: 0.7, top_p: 0.5, top_k: 0, min_p: 0, max_tokens: 3 },
    });
  });

  it("bounds max_tokens by the room in the context", async () => {
    const prompt = renderer.render([userSays("x")]).tokens.length;
    const { open, sampler } = createTestGateway(() => "abc", { contextLength: prompt + 2 });
    const session = await open();
    const response = await session.complete({ messages: [userSays("x")], max_tokens: 100 });
    expect(sampler.requests[0]?.params.maxTokens).toBe(2);
    expect(response.choices[0]?.finish_reason).toBe("length");
    const refused = await session.post({ messages: [userSays("xyz")] });
    expect(refused.status).toBe(400);
    const { error } = (await refused.json()) as WireError;
    expect(error.code).toBe("context_length_exceeded");
    expect(await session.traces()).toHaveLength(1);
  });
});

describe("seeds", () => {
  const seedsOf = async (
    questions: readonly string[],
    body: object = {},
    options: Record<string, unknown> = { seed: 5 },
  ): Promise<Map<string, number[]>> => {
    const { open, sampler } = createTestGateway(() => "ok");
    const session = await open(options);
    await Promise.all(
      questions.map((text) => session.complete({ messages: [userSays(text)], ...body })),
    );
    const seeds = new Map<string, number[]>();
    for (const { tokens, params } of sampler.requests) {
      const key = renderer.decode(tokens);
      seeds.set(key, [...(seeds.get(key) ?? []), params.seed]);
    }
    return seeds;
  };

  it("do not depend on the order of different prompts, and differ when one is repeated", async () => {
    const one = await seedsOf(["a", "b", "a", "c"]);
    const other = await seedsOf(["c", "a", "b", "a"]);
    expect(one.size).toBe(3);
    for (const [prompt, seeds] of one) expect(other.get(prompt)).toEqual(seeds);
    const all = [...one.values()].flat();
    expect(new Set(all).size).toBe(4);
  });

  it("depend on the session's seed and on the client's", async () => {
    const [base] = (await seedsOf(["a"])).values();
    const [again] = (await seedsOf(["a"])).values();
    const [otherSession] = (await seedsOf(["a"], {}, { seed: 6 })).values();
    const [otherClient] = (await seedsOf(["a"], { seed: 1 })).values();
    expect(again).toEqual(base);
    expect(otherSession).not.toEqual(base);
    expect(otherClient).not.toEqual(base);
  });

  it("do not depend on which of two trajectories asks first", async () => {
    const seedsBy = async (names: readonly string[]): Promise<Map<string, number>> => {
      const { open, sampler } = createTestGateway(() => "ok");
      const session = await open({ seed: 5 });
      const seeds = new Map<string, number>();
      for (const [i, name] of names.entries()) {
        const path = `/../trajectories/${name}/v1/chat/completions`;
        await session.complete({ messages: [userSays("a")] }, path);
        seeds.set(name, sampler.requests[i]?.params.seed ?? -1);
      }
      return seeds;
    };
    const one = await seedsBy(["solver", "judge"]);
    const other = await seedsBy(["judge", "solver"]);
    expect(other.get("solver")).toBe(one.get("solver"));
    expect(other.get("judge")).toBe(one.get("judge"));
    expect(one.get("judge")).not.toBe(one.get("solver"));
  });

  it("differ between sessions that were opened without one", async () => {
    const { open, sampler } = createTestGateway(() => "ok");
    for (const session of [await open(), await open()]) {
      await session.complete({ messages: [userSays("a")] });
    }
    const [first, second] = sampler.requests.map((request) => request.params.seed);
    expect(first).not.toBe(second);
  });
});
