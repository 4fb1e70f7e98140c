/** Environments that send what they should not: no call hangs, and nothing large reaches the model. */
import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { jsonText } from "../../src/environments/episode/json-text.ts";
import { plainText } from "../../src/environments/episode/plain-text.ts";
import { TrackedEpisode } from "../../src/environments/episode/tracked-episode.ts";
import { request } from "../../src/environments/http.ts";
import { OrsSource } from "../../src/environments/ors/ors-source.ts";
import { startWireServer, type WireServer } from "./ors-wire-server.ts";

const { signal } = new AbortController();
let server: WireServer | undefined;
afterEach(async () => {
  await server?.close();
});

/** Opens an episode whose calls are answered by `answer`, with short limits. */
async function openAgainst(answer: (response: ServerResponse) => void, idleTimeoutMs = 60_000) {
  server = await startWireServer({
    handle: (path, response) => {
      if (!path.endsWith("/call")) return false;
      response.writeHead(200, { "content-type": "text/event-stream" });
      answer(response);
      return true;
    },
  });
  const source = new OrsSource({ url: server.url, callTimeoutMs: 250, idleTimeoutMs });
  const task = { id: "0", instruction: "", metadata: { ors: { split: "train", index: 0 } } };
  return new TrackedEpisode(await source.open(task, { signal }));
}

const failed = { code: "ENVIRONMENT_FAILED" };

/** Writes as fast as the client reads, until it leaves. */
function flood(response: ServerResponse, text: string): void {
  const write = (): void => {
    while (!response.destroyed && response.write(text));
    if (!response.destroyed) response.once("drain", write);
  };
  response.on("error", () => {});
  write();
}

it("pings without an end stop at the limit of the call", async () => {
  const episode = await openAgainst((response) => {
    response.write("event: task_id\ndata: 1\n\n");
    const timer = setInterval(() => response.write(": ping\n\n"), 20);
    response.on("close", () => clearInterval(timer));
  });
  await expect(episode.call("answer", {}, signal)).rejects.toMatchObject(failed);
});

it("a connection without a byte stops at the limit of the call", async () => {
  const episode = await openAgainst(() => {});
  await expect(episode.call("answer", {}, signal)).rejects.toMatchObject(failed);
});

it.each([
  ["one line without an end", "x".repeat(65_536)],
  ["pieces without an end", `event: chunk\ndata: ${"y".repeat(65_536)}\n\n`],
])("%s stops at the limit of size or time", async (_name, text) => {
  const episode = await openAgainst((response) => flood(response, text));
  await expect(episode.call("answer", {}, signal)).rejects.toMatchObject(failed);
});

it.each([
  ["no JSON", "event: end\ndata: <html>\n\n", /not JSON/u],
  ["another shape", 'event: end\ndata: {"ok":true}\n\n', /broke its protocol/u],
  ["a reward that is text", wire('"1"'), /broke its protocol/u],
  ["an end without an end", "event: task_id\ndata: 1\n", /cut off|reached/u],
  [
    "an error of its own",
    "event: error\ndata: \u001b[31mboom\n\n",
    /failed in a call of .*: boom/u,
  ],
])("%s fails the call", async (_name, text, message) => {
  const episode = await openAgainst((response) => response.end(text));
  await expect(episode.call("answer", {}, signal)).rejects.toMatchObject({
    ...failed,
    message: expect.stringMatching(message) as unknown,
  });
});

function wire(reward: string): string {
  return `event: end\ndata: {"ok":true,"output":{"blocks":[],"reward":${reward},"finished":false}}\n\n`;
}

it("a server that says nothing is named, with the limit", async () => {
  server = await startWireServer({ handle: () => true });
  await expect(request({ url: `${server.url}/x/tasks`, timeoutMs: 100 })).rejects.toMatchObject({
    ...failed,
    message: `${server.url}/x/tasks did not respond within 100 ms.`,
  });
});

it("a number of tasks that nobody has is refused before any is read", async () => {
  server = await startWireServer({
    rangesOnly: true,
    handle: (path, response) => {
      if (!path.endsWith("/num_tasks")) return false;
      response.end('{"num_tasks": 1e15}');
      return true;
    },
  });
  const { value } = await new OrsSource({ url: server.url })
    .tasks("train")
    .next()
    .catch((error: unknown) => ({ value: error }));
  expect(value).toMatchObject({
    ...failed,
    message: expect.stringMatching(/num_tasks/u) as unknown,
  });
  expect(server.requests.map(({ path }) => path)).not.toContain(
    expect.stringMatching(/task_range/u),
  );
});

it("slow bytes within the limit are read", async () => {
  const text = wire("0.5");
  const episode = await openAgainst((response) => {
    let at = 0;
    const next = (): void => {
      if (at >= text.length) response.end();
      else response.write(text.slice(at, (at += 40)), () => setImmediate(next));
    };
    next();
  });
  expect(await episode.call("answer", {}, signal)).toMatchObject({ reward: 0.5 });
});

it("the caller's abort ends a call at once", async () => {
  const episode = await openAgainst(() => {});
  const controller = new AbortController();
  const call = episode.call("answer", {}, controller.signal);
  controller.abort(new Error("stop"));
  await expect(call).rejects.toThrow("stop");
});

describe("text of a result", () => {
  it("has no escape sequences, controls or halves of characters", () => {
    const text = "\u001b[2J\u001b]0;title\u0007a\u0000b\tc\nd\uD800e\u009B31mf";
    expect(plainText(text, 1000)).toBe("ab\tc\ndef");
  });

  it("keeps its beginning and its end", () => {
    expect(plainText(`${"a".repeat(300)}${"b".repeat(300)}`, 100)).toBe(
      `${"a".repeat(50)}\n[... 500 characters omitted ...]\n${"b".repeat(50)}`,
    );
  });
});

it("no call is made after the end, and none of a tool that is not offered", async () => {
  server = await startWireServer();
  const source = new OrsSource({ url: server.url });
  const task = { id: "0", instruction: "", metadata: { ors: { split: "train", index: 0 } } };
  const episode = new TrackedEpisode(await source.open(task, { signal }));
  expect(await episode.call("rm", {}, signal)).toMatchObject({ isError: true });
  expect(await episode.call("answer", {}, signal)).toMatchObject({ done: true });
  expect(await episode.call("answer", {}, signal)).toMatchObject({ isError: true });
  expect(server.calls).toHaveLength(1);
  expect(episode.score()).toEqual({
    reward: 1,
    isCorrect: null,
    signals: [{ name: "env_answer", value: 1 }],
  });
  expect(episode.metrics()).toEqual({ env_calls: 1, env_refused_calls: 2 });
  await episode.close();
});

it("values that are not JSON, or nested without end, are an error of the environment", () => {
  let deep: unknown = 1;
  for (let i = 0; i < 100_000; i++) deep = [deep];
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  for (const value of [deep, cyclic, { big: 1n }])
    expect(() => jsonText(value)).toThrow(expect.objectContaining(failed));
  expect(jsonText({ a: [1] })).toBe('{"a":[1]}');
  expect(jsonText(undefined)).toBe('""');
});
