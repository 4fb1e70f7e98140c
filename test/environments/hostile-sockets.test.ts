/** OpenEnv and MCP servers that send what they should not: no call hangs, and nothing large reaches the model. */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { expect, it } from "vitest";
import type { WebSocket } from "ws";
import type { EnvironmentSource } from "../../src/core/environment.ts";
import { TrackedEpisode } from "../../src/environments/episode/tracked-episode.ts";
import { McpSource } from "../../src/environments/mcp/mcp-source.ts";
import { OpenEnvSource } from "../../src/environments/openenv/openenv-source.ts";
import { startMcpServer } from "./mcp-http-server.ts";
import { startOpenEnvServer } from "./openenv-wire-server.ts";

const { signal } = new AbortController();
const failed = { code: "ENVIRONMENT_FAILED" };
const task = { id: "1", instruction: "Do it.", metadata: {} };
const callTimeoutMs = 300;

const open = async (source: EnvironmentSource): Promise<TrackedEpisode> =>
  new TrackedEpisode(await source.open(task, { signal }), { maxResultChars: 1000, callTimeoutMs });

/** Writes as fast as the other side reads, until it leaves. */
function flood(response: ServerResponse, text: string): void {
  const write = (): void => {
    while (!response.destroyed && response.write(text));
    if (!response.destroyed) response.once("drain", write);
  };
  response.on("error", () => {});
  write();
}

function observation(fields: object, rest: object = { reward: 1, done: true }): string {
  return JSON.stringify({ type: "observation", data: { observation: fields, ...rest } });
}

/** What an OpenEnv server does with a step. */
const socketFaults: readonly (readonly [string, (socket: WebSocket, bytes: Socket) => void])[] = [
  ["nothing", () => {}],
  ["no JSON", (socket) => socket.send("<html>")],
  ["another shape", (socket) => socket.send('{"kind":1}')],
  ["a list", (socket) => socket.send("[1]")],
  ["a binary message", (socket) => socket.send(Buffer.from([0xff, 0xfe]))],
  ["a message above the limit", (socket) => socket.send("x".repeat(17 * 2 ** 20))],
  ["a reward that is text", (socket) => socket.send(observation({}, { reward: "1", done: true }))],
  ["a polite end", (socket) => socket.close(1000)],
  ["bytes that are no frame", (_socket, bytes) => bytes.write("HTTP/1.1 200 OK\r\n\r\n")],
  [
    "messages without an end",
    (socket) => {
      const send = (): void => {
        if (socket.readyState === socket.OPEN) socket.send("{}", () => setImmediate(send));
      };
      send();
    },
  ],
  [
    "one frame, a byte at a time",
    (socket, bytes) => {
      // The header of a text of 60,000 bytes.
      bytes.write(Buffer.from([0x81, 126, 0xea, 0x60]));
      const timer = setInterval(() => bytes.write("x"), 20);
      socket.on("close", () => clearInterval(timer));
    },
  ],
];

it.each(socketFaults)("OpenEnv: %s fails the call", async (_name, act) => {
  await using server = await startOpenEnvServer({
    handle({ type }, socket, bytes) {
      if (type !== "step") return false;
      act(socket, bytes);
      return true;
    },
  });
  const episode = await open(new OpenEnvSource({ url: server.url, callTimeoutMs }));
  await expect(episode.respond("x", signal)).rejects.toMatchObject(failed);
  await episode.close();
});

it("OpenEnv: two responses to a step are not a response to the next one", async () => {
  await using server = await startOpenEnvServer({
    handle({ type }, socket) {
      if (type !== "step") return false;
      for (const text of ["first", "second"])
        socket.send(observation({ message: text }, { reward: 0, done: false }));
      return true;
    },
  });
  const episode = await open(new OpenEnvSource({ url: server.url, callTimeoutMs }));
  const both = async () => [await episode.respond("x", signal), await episode.respond("y", signal)];
  await expect(both()).rejects.toMatchObject(failed);
  await episode.close();
});

it("OpenEnv: a huge result with escape sequences is cleaned and cut, and true is a reward", async () => {
  await using server = await startOpenEnvServer({
    handle({ type }, socket) {
      if (type !== "step") return false;
      const message = `\u001b[31mred\u0000${"y".repeat(2 ** 20)}`;
      socket.send(observation({ message }, { reward: true, done: true }));
      return true;
    },
  });
  const episode = await open(new OpenEnvSource({ url: server.url, callTimeoutMs: 10_000 }));
  const { text, reward } = await new TrackedEpisode(episode, { maxResultChars: 100 }).respond(
    "x",
    signal,
  );
  expect(text.startsWith("red")).toBe(true);
  expect(text.length).toBeLessThan(200);
  expect(reward).toBe(1);
  await episode.close();
});

it("OpenEnv: a server that never opens the socket ends with the attempt", async () => {
  await using server = await startOpenEnvServer({ handle: () => true });
  const source = new OpenEnvSource({ url: server.url, callTimeoutMs });
  await expect(source.open(task, { signal })).rejects.toMatchObject(failed);
});

/** What an MCP server does with a call; `message` is what it should send. */
const httpFaults: readonly (readonly [
  string,
  (response: ServerResponse, message: object) => void,
])[] = [
  ["nothing", () => {}],
  ["no JSON", (response) => json(response).end("<html>")],
  ["another content", (response) => response.writeHead(200, { "content-type": "text/html" }).end()],
  ["a status", (response) => response.writeHead(500).end("boom")],
  ["another shape", (response) => json(response).end('{"jsonrpc":"2.0","id":1}')],
  ["a body without an end", (response) => flood(json(response), `"${"x".repeat(65_536)}`)],
  ["a stream without an end", (response) => flood(stream(response), `: ${"x".repeat(65_536)}\n\n`)],
  ["one line without an end", (response) => flood(stream(response), "x".repeat(65_536))],
  ["a stream that ends", (response) => stream(response).end(": nothing\n\n")],
  [
    "a byte at a time",
    (response) => {
      json(response).write("{");
      const timer = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(timer));
    },
  ],
];

const json = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { "content-type": "application/json" });
const stream = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { "content-type": "text/event-stream" });

it.each(httpFaults)("MCP: %s fails the call", async (_name, act) => {
  await using server = await startMcpServer({
    handle(response, message) {
      act(response, message);
      return true;
    },
  });
  const episode = await open(new McpSource({ server: server.url, callTimeoutMs }));
  await expect(episode.call("count", {}, signal)).rejects.toMatchObject(failed);
  await episode.close();
});

it("MCP: a huge result with escape sequences is cleaned and cut", async () => {
  await using server = await startMcpServer({
    handle(response, message) {
      const text = `\u001b[31mred\u0000${"y".repeat(2 ** 20)}`;
      json(response).end(
        JSON.stringify({ ...message, result: { content: [{ type: "text", text }] } }),
      );
      return true;
    },
  });
  const source = new McpSource({ server: server.url });
  const episode = new TrackedEpisode(await source.open(task, { signal }), { maxResultChars: 100 });
  const { text } = await episode.call("count", {}, signal);
  expect(text.startsWith("red")).toBe(true);
  expect(text.length).toBeLessThan(200);
  await episode.close();
});
