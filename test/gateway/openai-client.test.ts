/** The gateway behind a real socket, used by OpenAI's own client. */
import { connect } from "node:net";
import OpenAI from "openai";
import { afterEach, expect, it } from "vitest";
import type { RolloutSession } from "../../src/core/session.ts";
import { createGateway, type Gateway, type GatewayOptions } from "../../src/gateway/index.ts";
import {
  createScriptedTarget,
  type Script,
  type ScriptedSamplerOptions,
} from "../../src/testing/index.ts";
import { gate, userSays, weatherTool } from "./function-client.ts";

const gateways: Gateway[] = [];

afterEach(async () => {
  await Promise.all(gateways.splice(0).map((gateway) => gateway.close()));
});

async function listen(
  script: Script,
  sampler: ScriptedSamplerOptions = {},
  options: Partial<GatewayOptions> = {},
): Promise<{ gateway: Gateway; session: RolloutSession; client: OpenAI; port: number }> {
  const target = createScriptedTarget(script, sampler);
  const gateway = createGateway({ target, model: "scripted", ...options });
  gateways.push(gateway);
  const { port } = await gateway.listen();
  const session = await gateway.sessions.open({ uid: "task 1/0", seed: 1, sampling: {} });
  const client = new OpenAI({ baseURL: session.baseUrl, apiKey: session.apiKey, maxRetries: 0 });
  return { gateway, session, client, port };
}

const model = "scripted";
const messages = [userSays("q")];

it("answers plainly, with n choices, by session and by trajectory", async () => {
  const { client, session } = await listen(({ choice }) => `answer ${choice}`);
  const response = await client.chat.completions.create({ model, messages, n: 2 });
  expect(response.choices.map((choice) => choice.message.content)).toEqual([
    "answer 0",
    "answer 1",
  ]);
  const solver = session.trajectory("sol/ver");
  expect(session.trajectory("sol/ver")).toBe(solver);
  const role = new OpenAI({ baseURL: solver.baseUrl, apiKey: solver.apiKey });
  await role.chat.completions.create({ model, messages });
  const traces = await session.traces();
  expect(traces.map((trace) => trace.trajectoryUid)).toEqual([null, null, solver.uid]);
  expect(traces[0]?.promptIds).toBeInstanceOf(Int32Array);
  expect(traces[0]?.logprobs).toBeInstanceOf(Float32Array);
  expect((await client.models.list()).data.map((item) => item.id)).toEqual(["scripted"]);
});

it("streams tool calls and continues them id by id", async () => {
  const call = '<tool_call>{"name":  "weather", "arguments": {"city": "Oslo"}}</tool_call>';
  const { client, session } = await listen([`Hm. ${call}${call}`, "Sunny."]);
  const tools = [weatherTool as unknown as OpenAI.ChatCompletionTool];
  const stream = client.chat.completions.stream({ model, messages, tools });
  const first = await stream.finalMessage();
  expect(first.content).toBe("Hm.");
  const calls = first.tool_calls?.filter((item) => item.type === "function") ?? [];
  expect(calls.map((item) => item.function.arguments)).toEqual([
    '{"city":"Oslo"}',
    '{"city":"Oslo"}',
  ]);
  const second = await client.chat.completions.create({
    model,
    tools,
    messages: [
      ...messages,
      first,
      ...calls.map((item) => ({ role: "tool" as const, tool_call_id: item.id, content: "sun" })),
    ],
  });
  expect(second.choices[0]?.message.content).toBe("Sunny.");
  const [one, two] = await session.traces();
  expect(two?.parentId).toBe(one?.id);
  const previous = [...(one?.promptIds ?? []), ...(one?.responseIds ?? [])];
  expect(Array.from(two?.promptIds.subarray(0, previous.length) ?? [])).toEqual(previous);
});

it("streams text with usage and stop strings", async () => {
  const { client } = await listen(() => "one END two");
  const stream = await client.chat.completions.create({
    ...{ model, messages, stop: ["END"], stream: true as const },
    stream_options: { include_usage: true },
  });
  let text = "";
  let usage: number | undefined;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? "";
    usage = chunk.usage?.completion_tokens ?? usage;
  }
  expect(text).toBe("one ");
  expect(usage).toBe("one END".length);
});

it("gives the client's own error classes", async () => {
  const { client, session, gateway } = await listen(() => "x", { contextLength: 30 });
  const long = [userSays("x".repeat(50))];
  await expect(client.chat.completions.create({ model, messages: long })).rejects.toMatchObject({
    constructor: OpenAI.BadRequestError,
    code: "context_length_exceeded",
  });
  const stranger = new OpenAI({ baseURL: session.baseUrl, apiKey: gateway.adminToken });
  await expect(stranger.chat.completions.create({ model, messages })).rejects.toBeInstanceOf(
    OpenAI.AuthenticationError,
  );
  await expect(client.embeddings.create({ model, input: "x" })).rejects.toBeInstanceOf(
    OpenAI.NotFoundError,
  );
});

it("notices a client that hangs up, whether it streams or not", async () => {
  const reached = [gate(), gate()];
  const { client, session } = await listen(() => "abcdef", {
    beforeChunk: (call, sampled) => {
      if (sampled < 2) return;
      reached[call.index]?.open();
      return new Promise(() => undefined);
    },
  });
  const hangUp = new AbortController();
  const { signal } = hangUp;
  const call = client.chat.completions.create({ model, messages }, { signal });
  await reached[0]?.opened;
  hangUp.abort();
  await expect(call).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
  const stream = await client.chat.completions.create({ model, messages, stream: true });
  await reached[1]?.opened;
  stream.controller.abort();
  const traces = await session.traces();
  expect(traces.map((trace) => trace.untrainable)).toEqual([
    "client disconnected",
    "client disconnected",
  ]);
  expect(traces.map((trace) => Array.from(trace.responseIds))).toEqual([
    [97, 98],
    [97, 98],
  ]);
});

it("closes with calls in flight and with idle connections", async () => {
  const reached = gate();
  const { client, gateway, port } = await listen(() => "abcdef", {
    beforeChunk: ({ text }) => {
      if (text.includes("quick")) return;
      reached.open();
      return new Promise(() => undefined);
    },
  });
  await client.chat.completions.create({ model, messages: [userSays("quick")] });
  const idle = connect(port, "127.0.0.1");
  const idleClosed = new Promise((resolve) => idle.once("close", resolve));
  await new Promise((resolve) => idle.once("connect", resolve));
  const call = client.chat.completions.create({ model, messages });
  // A handler at once: the rejection comes while close is awaited.
  const failure = call.catch((error: unknown) => error);
  await reached.opened;
  await gateway.close();
  expect(await failure).toMatchObject({ status: 503 });
  await idleClosed;
  await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow("fetch failed");
});

it("refuses what cannot be served", async () => {
  const { gateway, port } = await listen(() => "x");
  const options = { uid: "task 1/0", seed: 1, sampling: {} };
  await expect(gateway.sessions.open(options)).rejects.toMatchObject({ code: "REQUEST_INVALID" });
  await expect(gateway.listen()).rejects.toThrow("listening already");
  const other = createGateway({ target: createScriptedTarget([]), model });
  gateways.push(other);
  await expect(other.sessions.open(options)).rejects.toThrow("no address yet");
  await expect(other.listen({ port })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  await other.listen();
  expect((await other.sessions.open(options)).uid).toBe(options.uid);
});

it("frees the uid of a closed session", async () => {
  const { gateway, session, client } = await listen(() => "x");
  await client.chat.completions.create({ model, messages });
  await session.close();
  await session.close();
  expect(await session.traces()).toEqual([]);
  await expect(client.chat.completions.create({ model, messages })).rejects.toBeInstanceOf(
    OpenAI.AuthenticationError,
  );
  const again = await gateway.sessions.open({ uid: session.uid, seed: 1, sampling: {} });
  expect(again.apiKey).not.toBe(session.apiKey);
  // The handle of the former session must not close the new one.
  await session.close();
  expect(await again.traces()).toEqual([]);
  const fresh = new OpenAI({ baseURL: again.baseUrl, apiKey: again.apiKey });
  await fresh.chat.completions.create({ model, messages });
  expect(await again.traces()).toHaveLength(1);
});

it("cannot be led astray by raw request lines", async () => {
  const { gateway, session, port } = await listen(() => "secret");
  const other = await gateway.sessions.open({ uid: "other", seed: 1, sampling: {} });
  for (const path of [
    "/sessions/x/../other/v1/chat/completions",
    "//sessions/other/v1/chat/completions",
    "/sessions/other%2f..%2f/v1/chat/completions",
    "/sessions/other\\/v1/chat/completions",
    "http://evil/sessions/other/v1/chat/completions",
    "/sessions/other/traces",
    "/./sessions/other",
  ]) {
    const body = JSON.stringify({ messages });
    const reply = await new Promise<string>((resolve) => {
      let text = "";
      const socket = connect(port, "127.0.0.1", () => {
        socket.write(
          `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${session.apiKey}\r\n` +
            `Content-Length: ${body.length}\r\n\r\n${body}`,
        );
      });
      socket.on("data", (data) => (text += data.toString()));
      socket.on("close", () => {
        resolve(text);
      });
    });
    expect([path, /^HTTP\/1\.1 4\d\d/.test(reply)]).toEqual([path, true]);
  }
  expect(await other.traces()).toEqual([]);
});
