/** An environment class behind OpenEnv's WebSocket, played by our own client and by hand. */
import { on, once } from "node:events";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import type { Task } from "../../src/core/task.ts";
import {
  defineEnvironment,
  environment,
  type EnvironmentServer,
  serveEnvironment,
  type ToolAction,
} from "../../src/environments/index.ts";

const { signal } = new AbortController();
let server: EnvironmentServer | undefined;
let closed = 0;
afterEach(async () => {
  await server?.close();
  closed = 0;
});

class Guess {
  readonly #number: number;
  constructor({ number }: { readonly number: number }) {
    this.#number = number;
  }
  reset() {
    return { observation: `A number up to ${this.#number * 2}?` };
  }
  step(action: ToolAction | string) {
    const value = typeof action === "string" ? Number(action) : action.arguments["value"];
    if (value === 13) throw new Error("unlucky");
    const isRight = value === this.#number;
    return { observation: isRight ? "right" : "wrong", reward: isRight ? 1 : 0, done: isRight };
  }
  close() {
    closed++;
  }
}

const tasks = {
  train: [
    { question: "1?", number: 1 },
    { question: "2?", number: 2 },
  ],
  test: [{ question: "9?", number: 9 }],
};
const texts = defineEnvironment({ name: "texts", envClass: Guess, tasks });
const tools = defineEnvironment({
  name: "tools",
  envClass: Guess,
  tasks,
  tools: [
    { name: "guess", parameters: { type: "object", properties: { value: { type: "integer" } } } },
  ],
});

it.each([
  ["tools", tools],
  ["texts", texts],
])("our client plays %s: tasks, episodes at the same time, rewards", async (name, source) => {
  server = await serveEnvironment(source, { port: 0 });
  const client = environment(`openenv:${server.url}`);
  const read: Task[] = [];
  for await (const task of client.tasks("test")) read.push(task);
  expect(read.map(({ instruction }) => instruction)).toEqual(["9?"]);
  const both = await Promise.all([0, 1].map(() => client.open(read[0]!, { signal })));
  const act = async (episode: (typeof both)[number], value: number) =>
    name === "tools"
      ? await episode.call("guess", { value }, signal)
      : await episode.respond?.(String(value), signal);
  for (const episode of both) {
    expect(episode.prompt).toEqual([{ role: "user", content: "A number up to 18?" }]);
    expect(await act(episode, 8)).toMatchObject({ reward: 0, done: false });
  }
  expect(await act(both[0]!, 9)).toMatchObject({ reward: 1, done: true });
  expect(await act(both[1]!, 9)).toMatchObject({ reward: 1, done: true });
  await Promise.all(both.map((episode) => episode.close()));
  await expect.poll(() => closed).toBe(2);
});

/** Sends messages, each after the response to the one before. */
async function talk(
  url: string,
  messages: readonly (object | string)[],
  query = "",
): Promise<unknown[]> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws${query}`);
  // From the beginning: a refusal comes before the first message.
  const received = on(socket, "message");
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const responses: unknown[] = [];
  for (const message of messages) {
    socket.send(typeof message === "string" ? message : JSON.stringify(message));
    const { value } = (await received.next()) as { readonly value: readonly [Buffer] };
    const { type, data } = JSON.parse(value[0].toString()) as {
      type: string;
      data: Record<string, unknown>;
    };
    responses.push(
      type === "error" ? data["code"] : type === "observation" ? data["observation"] : data,
    );
  }
  socket.close();
  return responses;
}

it("errors have their codes, and the socket survives them", async () => {
  server = await serveEnvironment(tools, { port: 0 });
  const step = (value: unknown) => ({
    type: "step",
    data: { type: "call_tool", tool_name: "guess", arguments: { value } },
  });
  expect(
    await talk(server.url, [
      "{",
      { type: "dance" },
      step(1),
      { type: "reset", data: { seed: -1 } },
      { type: "reset", data: { seed: 3, episode_id: "e" } },
      { type: "step", data: { tool_name: 5 } },
      { type: "step", data: { type: "call_tool", tool_name: "nothing", arguments: {} } },
      step(13),
      step(2),
      step(2),
      { type: "state" },
    ]),
  ).toEqual([
    "INVALID_JSON",
    "UNKNOWN_TYPE",
    "SESSION_ERROR",
    "VALIDATION_ERROR",
    { message: "A number up to 4?" },
    "VALIDATION_ERROR",
    {
      tool_name: "nothing",
      result: null,
      error: { error_type: "invalid_args", message: 'There is no tool "nothing".' },
    },
    "EXECUTION_ERROR",
    { tool_name: "guess", result: "right", error: null },
    "SESSION_ERROR",
    { episode_id: "e", step_count: 1 },
  ]);
});

it("a socket needs the key", async () => {
  server = await serveEnvironment(texts, { port: 0, apiKey: "key" });
  await expect(talk(server.url, [])).rejects.toThrow(/401/u);
});

it("/mcp: a session over HTTP that a socket takes part in", async () => {
  server = await serveEnvironment(tools, { port: 0 });
  const { url } = server;
  const post = async (body: string): Promise<Record<string, unknown>> =>
    (await (await fetch(`${url}/mcp`, { method: "POST", body })).json()) as Record<string, unknown>;
  const rpc = (method: string, params: object = {}) =>
    post(JSON.stringify({ jsonrpc: "2.0", id: 7, method, params }));
  const { result } = await rpc("openenv/session/create");
  const { session_id } = result as { session_id: string };
  const call = (value: number) =>
    rpc("tools/call", { session_id, name: "guess", arguments: { value } });
  expect(await call(1)).toMatchObject({ id: 7, error: { message: "Send reset before step." } });
  const query = `?session_id=${session_id}`;
  expect(await talk(url, [{ type: "reset", data: { seed: 1 } }], query)).toEqual([
    { message: "A number up to 4?" },
  ]);
  expect(await call(1)).toMatchObject({ result: { data: "wrong" } });
  expect(await call(13)).toMatchObject({ error: { code: -32_603, message: "unlucky" } });
  expect(await call(2)).toMatchObject({ result: { data: "right", is_error: false } });
  await expect
    .poll(() => talk(url, [{ type: "state" }], query))
    .toEqual([{ episode_id: expect.any(String) as unknown, step_count: 2 }]);
  expect(await rpc("tools/list")).toMatchObject({ result: { tools: [{ name: "guess" }] } });
  const close = () => rpc("openenv/session/close", { session_id });
  expect(await close()).toMatchObject({ result: { session_id, closed: true } });
  expect(closed).toBe(1);
  for (const [response, code] of [
    [await close(), -32_602],
    [await call(2), -32_602],
    [await rpc("dance", {}), -32_602],
    [await post("{}"), -32_600],
    [await post("{"), -32_700],
  ] as const) {
    expect(response).toMatchObject({ jsonrpc: "2.0", error: { code } });
  }
  expect(await talk(url, [{ type: "state" }], query)).toEqual(["SESSION_ERROR"]);
});

describe("without a key", () => {
  const foreign: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ["a page's origin", { origin: "https://evil.example" }],
    ["a page of another port", { origin: "http://127.0.0.1:1" }],
    ["a sandboxed page", { origin: "null" }],
    ["a name that a page leads here", { host: "evil.example" }],
  ];

  it.each(foreign)("a socket with %s is refused", async (_name, headers) => {
    server = await serveEnvironment(texts, { port: 0 });
    const socket = new WebSocket(`${server.url.replace("http", "ws")}/ws`, { headers });
    const [error] = (await once(socket, "error")) as [Error];
    expect(error.message).toContain("401");
  });

  it.each(foreign)(
    "a request with %s is refused, and what it asks is not done",
    async (_name, headers) => {
      server = await serveEnvironment(texts, { port: 0 });
      for (const path of ["/mcp", "/create", "/create_session"]) {
        const request = httpRequest(`${server.url}${path}`, {
          method: "POST",
          // As a form of a page: no request comes before it that asks whether it may be sent.
          headers: { "content-type": "text/plain", ...headers },
        });
        request.end('{"jsonrpc":"2.0","id":1,"method":"openenv/session/create"}');
        const [response] = (await once(request, "response")) as [IncomingMessage];
        response.resume();
        expect([path, response.statusCode]).toEqual([path, 403]);
      }
    },
  );

  it("a program of this machine is served", async () => {
    server = await serveEnvironment(texts, { port: 0 });
    const { port } = new URL(server.url);
    const socket = new WebSocket(`ws://localhost:${port}/ws`);
    await once(socket, "open");
    expect(socket.readyState).toBe(WebSocket.OPEN);
    socket.terminate();
  });
});
