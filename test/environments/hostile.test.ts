/** Environments that answer what they should not: no call hangs, and nothing large reaches the model. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { EnvironmentEpisode, EnvironmentResult } from "../../src/core/environment.ts";
import { jsonText } from "../../src/environments/episode/json-text.ts";
import { plainText } from "../../src/environments/episode/plain-text.ts";
import { TrackedEpisode } from "../../src/environments/episode/tracked-episode.ts";
import { requestJson } from "../../src/environments/http.ts";

const { signal } = new AbortController();
const failed = { code: "ENVIRONMENT_FAILED" };

/** An episode with one tool, within the limits of all. */
function episodeOf(call: EnvironmentEpisode["call"]): TrackedEpisode {
  const tools = [{ name: "answer", parameters: {} }];
  const inner = { prompt: [], tools, call, close: () => Promise.resolve() };
  return new TrackedEpisode(inner, { callTimeoutMs: 250 });
}

const never = (): Promise<EnvironmentResult> => new Promise(() => {});

it("a call that never ends stops at its limit", async () => {
  await expect(episodeOf(never).call("answer", {}, signal)).rejects.toMatchObject(failed);
});

it("a server that says nothing is named, with the limit", async () => {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x/tasks`;
  await expect(requestJson({ url, timeoutMs: 100 })).rejects.toMatchObject({
    ...failed,
    message: `${url} did not respond within 100 ms.`,
  });
});

it("the caller's abort ends a call at once", async () => {
  const controller = new AbortController();
  const call = episodeOf(never).call("answer", {}, controller.signal);
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
  const calls: string[] = [];
  const episode = episodeOf(async (name) => {
    calls.push(name);
    return { text: "Correct!", reward: 1, done: true };
  });
  expect(await episode.call("rm", {}, signal)).toMatchObject({ isError: true });
  expect(await episode.call("answer", {}, signal)).toMatchObject({ done: true });
  expect(await episode.call("answer", {}, signal)).toMatchObject({ isError: true });
  expect(calls).toEqual(["answer"]);
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
