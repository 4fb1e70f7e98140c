/** Calls that take longer than clients wait for headers: Node's fetch gives up after 300 s, here after one. */
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import Anthropic from "@anthropic-ai/sdk";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGateway, type Gateway } from "../../src/gateway/index.ts";
import { callModel } from "../../src/rollouts/workflow/model-call.ts";
import { createScriptedTarget, type Script } from "../../src/testing/index.ts";

const slowMs = 2_500;
const model = "scripted";
const messages = [{ role: "user" as const, content: "q" }];

type Dispatcher = object;
let impatient: Dispatcher;
const impatientFetch: typeof fetch = (input, init) =>
  fetch(input, { ...init, dispatcher: impatient } as RequestInit);

beforeAll(async () => {
  // Node makes its dispatcher when fetch is used first.
  await fetch("data:,");
  const key = Symbol.for("undici.globalDispatcher.1");
  const known = (globalThis as unknown as Record<symbol, Dispatcher>)[key] as Dispatcher;
  const Agent = known.constructor as new (options: object) => Dispatcher;
  impatient = new Agent({ headersTimeout: 1_000, bodyTimeout: 1_000 });
});
afterAll(async () => {
  await (impatient as { close(): Promise<void> }).close();
});

interface Slow extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly baseURL: string;
  readonly apiKey: string;
  readonly errors: readonly unknown[];
  traceCount(): Promise<number>;
}

/** The headers come after four times `keepAliveMs`. */
async function open(script: Script, keepAliveMs = 50): Promise<Slow> {
  const errors: unknown[] = [];
  const gateway = createGateway({
    target: createScriptedTarget(script),
    model,
    keepAliveMs,
    onError: (error) => errors.push(error),
  });
  await gateway.listen();
  const session = await gateway.sessions.open({ uid: "s", seed: 1, sampling: {} });
  return {
    gateway,
    baseURL: session.baseUrl,
    apiKey: session.apiKey,
    errors,
    traceCount: async () => (await session.traces()).length,
    [Symbol.asyncDispose]: () => gateway.close(),
  };
}

const slow: Script = async () => {
  await delay(slowMs);
  return "late but well";
};

type WorkerRequest = (slow: Pick<Slow, "apiKey" | "baseURL">) => Promise<string>;

const openAi = (world: Pick<Slow, "apiKey" | "baseURL">): OpenAI =>
  new OpenAI({ ...world, maxRetries: 0, fetch: impatientFetch });
const anthropic = ({ apiKey, baseURL }: Pick<Slow, "apiKey" | "baseURL">): Anthropic =>
  new Anthropic({ apiKey, baseURL, authToken: null, maxRetries: 0, fetch: impatientFetch });
const aiSdk = ({ apiKey, baseURL }: Pick<Slow, "apiKey" | "baseURL">) =>
  createOpenAICompatible({ name: "slow", apiKey, baseURL, fetch: impatientFetch })(model);

const clients: Readonly<Record<string, WorkerRequest>> = {
  "openai, chat": async (world) => {
    const response = await openAi(world).chat.completions.create({ model, messages });
    return response.choices[0]?.message.content ?? "";
  },
  "openai, chat, streamed": async (world) => {
    const stream = await openAi(world).chat.completions.create({ model, messages, stream: true });
    let text = "";
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
    return text;
  },
  "openai, completions": async (world) => {
    const options = { model, prompt: "q", max_tokens: 50 };
    return (await openAi(world).completions.create(options)).choices[0]?.text ?? "";
  },
  "openai, responses": async (world) =>
    (await openAi(world).responses.create({ model, input: "q" })).output_text,
  "openai, responses, streamed": async (world) =>
    (await openAi(world).responses.stream({ model, input: "q" }).finalResponse()).output_text,
  anthropic: async (world) => {
    const options = { model, messages, max_tokens: 50 };
    const { content } = await anthropic(world).messages.create(options);
    return content[0]?.type === "text" ? content[0].text : "";
  },
  "anthropic, streamed": async (world) =>
    anthropic(world).messages.stream({ model, messages, max_tokens: 50 }).finalText(),
  "ai SDK": async (world) =>
    (await generateText({ model: aiSdk(world), prompt: "q", maxRetries: 0 })).text,
  "ai SDK, streamed": async (world) => {
    // It throws nothing, and tells its failures on the side.
    let failure: unknown;
    const onError = ({ error }: { error: unknown }): void => {
      failure = error;
    };
    const text = await streamText({ model: aiSdk(world), prompt: "q", maxRetries: 0, onError })
      .text;
    if (failure !== undefined) throw new Error("failed", { cause: failure });
    return text;
  },
};

describe.concurrent.each(Object.entries(clients))("%s", (_name, request) => {
  it("gets an answer that takes longer than it waits for headers", async () => {
    await using world = await open(slow);
    expect(await request(world)).toBe("late but well");
    expect(await world.traceCount()).toBe(1);
  });
});

it("would not, without a word in between", async () => {
  await using world = await open(slow, 60_000);
  await expect(clients["openai, chat"]?.(world)).rejects.toThrow(/timed out|Connection error/);
});

it("a workflow's own calls do", async () => {
  await using world = await open(slow);
  const { signal } = new AbortController();
  const { baseURL: baseUrl, apiKey } = world;
  const before = globalThis.fetch;
  try {
    globalThis.fetch = (input, init) =>
      before(input, { ...init, dispatcher: impatient } as RequestInit);
    const output = await callModel({ model, signal }, { baseUrl, apiKey }, messages);
    expect(output.content).toBe("late but well");
  } finally {
    globalThis.fetch = before;
  }
});

it("calls that wait for the gateway to resume have their headers, too", async () => {
  await using world = await open(() => "resumed");
  await world.gateway.pause(0);
  const requested = clients["openai, chat"]?.(world);
  await delay(slowMs);
  world.gateway.resume();
  expect(await requested).toBe("resumed");
});

describe.concurrent("a failure after the headers", () => {
  const failing: Script = async () => {
    await delay(600);
    throw new Error("secret reason");
  };

  it.each(Object.entries(clients))(
    "is an error for %s, never an answer",
    async (_name, request) => {
      await using world = await open(failing, 25);
      const failure = await request(world).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(Error);
      expect(world.errors).toHaveLength(1);
      expect(await world.traceCount()).toBe(0);
    },
  );

  it("is in the body, whose end is missing", async () => {
    await using world = await open(failing, 25);
    const url = new URL(`${world.baseURL}/chat/completions`);
    const body = JSON.stringify({ messages });
    const socket = connect(Number(url.port), url.hostname);
    socket.write(
      `POST ${url.pathname} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.apiKey}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    let text = "";
    socket.on("data", (data) => (text += data.toString()));
    await once(socket, "close");
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(text).toContain('"code":"internal_error"');
    expect(text).not.toContain("secret");
    expect(text).not.toMatch(/\r\n0\r\n\r\n$/);
  });
});

it("a client that leaves after the headers ends its call", async () => {
  let ended = false;
  await using world = await open(async () => {
    await delay(300);
    ended = true;
    return "a".repeat(50);
  });
  const leaving = new AbortController();
  const response = await fetch(`${world.baseURL}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.apiKey}` },
    body: JSON.stringify({ messages }),
    signal: leaving.signal,
  });
  expect(response.status).toBe(200);
  expect(ended).toBe(false);
  leaving.abort();
  await expect(response.text()).rejects.toThrow(/abort/i);
  await expect.poll(() => world.traceCount()).toBeLessThanOrEqual(1);
  expect(world.errors).toEqual([]);
});
