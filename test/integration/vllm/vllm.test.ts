/** The gateway in front of real vLLM, where the server renders and where the gateway does. */
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RolloutSession } from "../../../src/core/session.ts";
import type { Trace } from "../../../src/core/trace.ts";
import { createGateway, type Gateway } from "../../../src/gateway/index.ts";
import { loadRenderer } from "../../../src/models/renderers/load.ts";
import { contextLength, modelName, startVllm, type VllmServer } from "./vllm-server.ts";

type Message = OpenAI.ChatCompletionMessageParam;

let vllm: VllmServer;
beforeAll(async () => {
  vllm = await startVllm(8461);
});
afterAll(async () => {
  await vllm?.[Symbol.asyncDispose]();
});

async function askVllm(path: string, body: object): Promise<Record<string, unknown>> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(vllm.url + path, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

/** What vLLM says of these very ids when it only reads them. */
async function scoreIds({ promptIds, responseIds }: Trace): Promise<number[]> {
  const prompt = [...promptIds, ...responseIds];
  const body = { model: modelName, prompt, max_tokens: 1, temperature: 0, prompt_logprobs: 0 };
  const answer = await askVllm("/v1/completions", body);
  const [choice] = answer["choices"] as { prompt_logprobs: (Record<string, Scored> | null)[] }[];
  return prompt
    .map((id, i) => choice?.prompt_logprobs[i]?.[id]?.logprob ?? Number.NaN)
    .slice(promptIds.length);
}

interface Scored {
  readonly logprob: number;
}

async function expectTruth(trace: Trace): Promise<void> {
  const scored = await scoreIds(trace);
  expect(trace.logprobs).toHaveLength(scored.length);
  for (const [i, logprob] of scored.entries()) expect(trace.logprobs[i]).toBeCloseTo(logprob, 3);
}

const weather: OpenAI.ChatCompletionTool = {
  type: "function",
  function: {
    name: "weather",
    description: "The weather of a city",
    parameters: {
      type: "object",
      properties: { city: { enum: ["Rome", "Oslo"] } },
      required: ["city"],
    },
  },
};

describe.each(["server", "cumulative"] as const)("vLLM in the token mode %s", (tokenMode) => {
  let gateway: Gateway;
  let session: RolloutSession;
  let client: OpenAI;

  beforeAll(async () => {
    const workers = [{ url: vllm.url }];
    const renderer = await loadRenderer(vllm.modelFolder);
    gateway = createGateway({
      target: { kind: "http", workers, tokenMode, ...(tokenMode === "server" ? {} : { renderer }) },
      model: modelName,
    });
    await gateway.listen();
  });
  afterAll(() => gateway.close());

  async function open(): Promise<void> {
    session = await gateway.sessions.open({ uid: `s${Math.random()}`, seed: 7, sampling: {} });
    client = new OpenAI({ baseURL: session.baseUrl, apiKey: session.apiKey, maxRetries: 0 });
  }

  it("captures ids and log-probabilities that vLLM confirms, whole and streamed", async () => {
    await open();
    const messages: Message[] = [{ role: "user", content: "Two and two?" }];
    const body = { model: modelName, messages, max_tokens: 24, temperature: 0.7 };
    const whole = await client.chat.completions.create({ ...body, logprobs: true });
    let text = "";
    const stream = client.chat.completions.stream({
      ...body,
      stream_options: { include_usage: true },
    });
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
    const { usage } = await stream.finalChatCompletion();
    const [first, second] = (await session.traces()) as [Trace, Trace];
    expect(first.response.content).toBe(whole.choices[0]?.message.content);
    expect(second.response.content).toBe(text);
    expect(whole.choices[0]?.logprobs?.content?.map(({ logprob }) => logprob)).toEqual(
      Array.from(first.logprobs),
    );
    expect(usage?.completion_tokens).toBe(second.responseIds.length);
    const { tokens } = await askVllm("/tokenize", { model: modelName, messages });
    for (const trace of [first, second]) {
      expect(trace).toMatchObject({ logprobKind: "raw", parentId: null });
      expect(trace.untrainable).toBeUndefined();
      expect(Array.from(trace.promptIds)).toEqual(tokens);
      await expectTruth(trace);
    }
  });

  it("continues a conversation by the sampled ids", async () => {
    await open();
    const messages: Message[] = [{ role: "system", content: "Be brief." }];
    for (const question of ["Name a colour.", "Another?", "And one more?"]) {
      messages.push({ role: "user", content: question });
      const body = { model: modelName, messages, max_tokens: 8 };
      const { choices } = await client.chat.completions.create(body);
      messages.push({ role: "assistant", content: choices[0]?.message.content ?? "" });
    }
    const traces = await session.traces();
    // The text of random tokens need not encode to the same ids, and then the server starts afresh.
    const children = traces.filter(({ parentId }) => parentId !== null);
    if (tokenMode === "cumulative") expect(children).toHaveLength(2);
    for (const child of children) {
      const parent = traces.find(({ id }) => id === child.parentId) as Trace;
      const before = [...parent.promptIds, ...parent.responseIds];
      expect(Array.from(child.promptIds.subarray(0, before.length))).toEqual(before);
    }
    for (const trace of traces) await expectTruth(trace);
  });

  it("renders tools as the server does", async () => {
    await open();
    const messages: Message[] = [{ role: "user", content: "Weather in Rome?" }];
    const body = { model: modelName, messages, tools: [weather] };
    await client.chat.completions.create({ ...body, max_tokens: 4 });
    const { tokens } = await askVllm("/tokenize", body);
    expect(Array.from((await session.traces())[0]?.promptIds ?? [])).toEqual(tokens);
  });

  it("draws several choices, each with its own ids", async () => {
    await open();
    const messages: Message[] = [{ role: "user", content: "Hello" }];
    const body = { model: modelName, messages, max_tokens: 6, n: 3 };
    const { choices } = await client.chat.completions.create(body);
    const traces = await session.traces();
    expect(traces.map(({ choice }) => choice)).toEqual([0, 1, 2]);
    expect(new Set(choices.map(({ message }) => message.content)).size).toBe(3);
    for (const trace of traces) await expectTruth(trace);
  });

  it("keeps the ids up to a stop string, and cuts the text", async () => {
    await open();
    const messages: Message[] = [{ role: "user", content: "Say anything" }];
    const body = { model: modelName, messages, max_tokens: 400, stop: ["e"] };
    const { choices } = await client.chat.completions.create(body);
    expect(choices[0]?.finish_reason).toBe("stop");
    expect(choices[0]?.message.content).not.toContain("e");
    const [trace] = (await session.traces()) as [Trace];
    const { prompt } = await askVllm("/detokenize", {
      model: modelName,
      tokens: Array.from(trace.responseIds),
    });
    expect(prompt).toContain("e");
    await expectTruth(trace);
  });

  it("draws to the end of the context where nobody limits it, and refuses what does not fit", async () => {
    await open();
    const messages: Message[] = [{ role: "user", content: "tell ".repeat(900) }];
    const { usage } = await client.chat.completions.create({ model: modelName, messages });
    expect(usage?.total_tokens).toBeLessThanOrEqual(contextLength);
    const [trace] = (await session.traces()) as [Trace];
    expect(trace.sampling.maxTokens).toBe(contextLength - trace.promptIds.length);
    const long: Message[] = [{ role: "user", content: "tell ".repeat(2_000) }];
    await expect(
      client.chat.completions.create({ model: modelName, messages: long, max_tokens: 4 }),
    ).rejects.toMatchObject({ status: 400, code: "context_length_exceeded" });
  });

  it("stops vLLM when the client leaves", async () => {
    await open();
    const messages: Message[] = [{ role: "user", content: "Go on" }];
    const stream = await client.chat.completions.create({
      ...{ model: modelName, messages, max_tokens: 900 },
      stream: true,
    });
    for await (const _ of stream) break;
    stream.controller.abort();
    await expect.poll(() => session.traces(), { timeout: 20_000 }).toHaveLength(1);
    const [trace] = (await session.traces()) as [Trace];
    expect(trace.untrainable).toBe("client disconnected");
    expect(trace.responseIds.length).toBeLessThan(900);
    const running = async (): Promise<string | undefined> => {
      const text = await (await fetch(`${vllm.url}/metrics`)).text();
      return /^vllm:num_requests_running\{.*\} (\S+)$/m.exec(text)?.[1];
    };
    await expect.poll(running, { timeout: 30_000, interval: 500 }).toBe("0.0");
  });

  it("passes forced answers on and does not train on them, or refuses them by name", async () => {
    await open();
    const messages: Message[] = [{ role: "user", content: "Weather in Oslo?" }];
    const asked = client.chat.completions.create({
      ...{ model: modelName, messages, tools: [weather], max_tokens: 100 },
      tool_choice: { type: "function", function: { name: "weather" } },
    });
    if (tokenMode === "cumulative") {
      await expect(asked).rejects.toMatchObject({ status: 400, param: "tool_choice" });
      return;
    }
    const [call] = (await asked).choices[0]?.message.tool_calls ?? [];
    expect(call).toMatchObject({ type: "function", function: { name: "weather" } });
    expect((await session.traces())[0]?.untrainable).toMatch(/^tool_choice forced/);
  });
});
