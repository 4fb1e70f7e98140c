/** The official server of the Open Reward Standard from PyPI, and its official client against ours. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Task } from "../../../src/core/task.ts";
import { OrsSource } from "../../../src/environments/ors/ors-source.ts";
import { freePort } from "../../free-port.ts";
import { startServer, type ServerProcess } from "../server-process.ts";
import { environmentsPython } from "./python.ts";

const { signal } = new AbortController();
let python = "";
let server: ServerProcess | undefined;
let url = "";

beforeAll(async () => {
  python = environmentsPython();
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  server = await startServer({
    command: python,
    args: [join(import.meta.dirname, "ors_server.py"), String(port)],
    healthUrl: `${url}/health`,
    limitMs: 120_000,
  });
}, 900_000);
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

async function tasksOf(source: OrsSource): Promise<Task[]> {
  const tasks: Task[] = [];
  for await (const task of source.tasks("train")) tasks.push(task);
  return tasks;
}

it("tasks, prompt, tools, calls and rewards", async () => {
  const source = new OrsSource({ url });
  const tasks = await tasksOf(source);
  expect(tasks.map(({ instruction }) => instruction).slice(0, 2)).toEqual([
    "Count to 1",
    "Count to 2",
  ]);
  const episode = await source.open(tasks[1]!, { signal });
  expect(episode.prompt).toEqual([{ role: "user", content: "Count to 2." }]);
  expect(episode.tools.map(({ name }) => name).toSorted()).toEqual([
    "crash",
    "long",
    "secret",
    "slow",
    "step",
  ]);
  expect(await episode.call("step", {}, signal)).toEqual({ text: "1", reward: 0.5, done: false });
  expect(await episode.call("long", { value: "x" }, signal)).toMatchObject({ isError: true });
  expect(await episode.call("nothing", {}, signal)).toMatchObject({ isError: true });
  const { text } = await episode.call("long", { value: 20_000 }, signal);
  expect(text).toBe("äß".repeat(20_000));
  expect(await episode.call("step", {}, signal)).toEqual({ text: "2", reward: 0.5, done: true });
  await episode.close();
});

it("a call that takes longer than the pings are apart", { timeout: 60_000 }, async () => {
  const source = new OrsSource({ url, idleTimeoutMs: 11_000 });
  const [task] = await tasksOf(source);
  const episode = await source.open(task!, { signal });
  expect(await episode.call("slow", { value: 25 }, signal)).toEqual({ text: "1", done: false });
  await episode.close();
});

it(
  "takes a call up again that lost its connection, and the tool has run once",
  { timeout: 60_000 },
  async () => {
    // Half a second without a byte counts as cut: the server's first ping comes after ten.
    const source = new OrsSource({ url, idleTimeoutMs: 700 });
    const [task] = await tasksOf(source);
    const episode = await source.open(task!, { signal });
    expect(await episode.call("slow", { value: 2 }, signal)).toEqual({ text: "1", done: false });
    await episode.close();
  },
);

it("secrets arrive, and a crash fails the call", async () => {
  const source = new OrsSource({ url, secrets: { SEARCH_KEY: "abc" } });
  const [task] = await tasksOf(source);
  const episode = await source.open(task!, { signal });
  expect(await episode.call("secret", {}, signal)).toMatchObject({ text: "SEARCH_KEY" });
  await expect(episode.call("crash", {}, signal)).rejects.toMatchObject({
    code: "ENVIRONMENT_FAILED",
  });
  await episode.close();
});
