/** The official server of OpenEnv from PyPI. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Task } from "../../../src/core/task.ts";
import { OpenEnvSource } from "../../../src/environments/openenv/openenv-source.ts";
import { mapConcurrent } from "../../../src/util/concurrency.ts";
import { freePort } from "../../free-port.ts";
import { startServer, type ServerProcess } from "../server-process.ts";
import { environmentsPython } from "./python.ts";

const { signal } = new AbortController();
let server: ServerProcess | undefined;
let source: OpenEnvSource;
let tasks: Task[] = [];

beforeAll(async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  server = await startServer({
    command: environmentsPython(),
    args: [join(import.meta.dirname, "openenv_server.py"), String(port)],
    healthUrl: `${url}/health`,
    limitMs: 120_000,
  });
  source = new OpenEnvSource({ url, seeds: 8 });
  tasks = [];
  for await (const task of source.tasks("train")) tasks.push(task);
}, 900_000);
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

it("resets with a seed, steps with texts, ends", async () => {
  expect(tasks).toHaveLength(8);
  const episode = await source.open(tasks[5]!, { signal });
  expect(episode.prompt).toEqual([{ role: "user", content: "Seed 5" }]);
  expect(episode.tools).toEqual([]);
  expect(await episode.respond?.("a", signal)).toEqual({ text: "1: a", reward: 0.5, done: false });
  expect(await episode.respond?.("b", signal)).toEqual({ text: "2: b", reward: 0.5, done: true });
  await episode.close();
});

it("eight episodes at a server with room for one", { timeout: 120_000 }, async () => {
  const texts = await mapConcurrent(tasks, 8, async (task, index, own) => {
    const episode = await source.open(task, { signal: own });
    const result = await episode.respond?.(`from ${index}`, own);
    await episode.close();
    return result?.text;
  });
  expect(texts).toEqual(tasks.map((_task, index) => `1: from ${index}`));
});

it("a crash of the environment fails the call", async () => {
  const episode = await source.open(tasks[0]!, { signal });
  await expect(episode.respond?.("crash", signal)).rejects.toMatchObject({
    code: "ENVIRONMENT_FAILED",
    message: expect.stringContaining("boom") as unknown,
  });
  await episode.close();
});
