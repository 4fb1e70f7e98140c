/** The client of OpenEnv against the recorded wire. */
import { afterEach, expect, it } from "vitest";
import type { Task } from "../../src/core/task.ts";
import { environment } from "../../src/environments/environment.ts";
import { OpenEnvSource } from "../../src/environments/openenv/openenv-source.ts";
import { mapConcurrent } from "../../src/util/concurrency.ts";
import {
  type OpenEnvWireOptions,
  type OpenEnvWireServer,
  startOpenEnvServer,
} from "./openenv-wire-server.ts";

const { signal } = new AbortController();
let server: OpenEnvWireServer;
const start = async (options?: OpenEnvWireOptions): Promise<OpenEnvSource> => {
  server = await startOpenEnvServer(options);
  return new OpenEnvSource({ url: server.url, seeds: 8 });
};
afterEach(async () => {
  await server.close();
});

async function tasksOf(source: OpenEnvSource, split = "train"): Promise<Task[]> {
  const tasks: Task[] = [];
  for await (const task of source.tasks(split)) tasks.push(task);
  return tasks;
}

it("an environment of texts: seeds as tasks, responses as actions", async () => {
  const source = await start();
  const tasks = await tasksOf(source);
  expect(tasks).toHaveLength(8);
  const others = await tasksOf(source, "test");
  expect(others[0]?.metadata["openenv"]).toEqual({ reset: { seed: 1_000_000 } });
  const episode = await source.open(tasks[3]!, { signal });
  expect(episode.prompt).toEqual([{ role: "user", content: "Seed 3" }]);
  expect(episode.tools).toEqual([]);
  expect(await episode.respond?.("hello", signal)).toEqual({
    text: "Echo: hello",
    reward: 1,
    done: true,
  });
  await episode.close();
  expect(server.received.map(({ type }) => type)).toEqual(["reset", "mcp", "step", "close"]);
});

it("tasks of a server that lists them are what its environment is reset to", async () => {
  const tasks = { train: [{ question: "2+2?" }, { question: "3+3?" }], test: [], dev: [1] };
  const source = await start({ tasks });
  const read = await tasksOf(source);
  expect(read).toMatchObject([
    { id: "train/0", instruction: "2+2?" },
    { id: "train/1", instruction: "3+3?" },
  ]);
  await (await source.open(read[1]!, { signal })).close();
  expect(server.received[0]).toMatchObject({ type: "reset", data: { question: "3+3?" } });
  await expect(tasksOf(source, "test")).rejects.toThrow(/no tasks in the split "test"/u);
  await expect(tasksOf(source, "dev")).rejects.toThrow(/broke its protocol at "tasks.0"/u);
});

it("an environment of tools: calls as steps, refusals shown to the model", async () => {
  const source = await start({
    tools: [{ name: "add", description: "Adds", inputSchema: { type: "object" } }],
    step: (_data, count) =>
      count === 1
        ? { type: "error", data: { code: "VALIDATION_ERROR", message: "bad", errors: ["a"] } }
        : { type: "observation", data: { observation: { result: "3" }, reward: 0.5, done: false } },
  });
  const [task] = await tasksOf(source);
  const episode = await source.open(task!, { signal });
  expect(episode.tools).toEqual([
    { name: "add", description: "Adds", parameters: { type: "object" } },
  ]);
  expect(await episode.call("add", {}, signal)).toMatchObject({ text: 'bad ["a"]', isError: true });
  expect(await episode.call("add", { a: 1 }, signal)).toMatchObject({ text: "3", reward: 0.5 });
  const steps = server.received.filter(({ type }) => type === "step");
  expect(steps[1]?.["data"]).toEqual({ type: "call_tool", tool_name: "add", arguments: { a: 1 } });
  await episode.close();
});

it("actions of several fields become the arguments of one tool", async () => {
  const properties = { x: { type: "integer" }, y: { type: "integer" } };
  const source = await start({
    action: { type: "object", properties: { ...properties, metadata: {} } },
    step: () => ({ type: "observation", data: { observation: { board: [1] }, done: true } }),
  });
  const [task] = await tasksOf(source);
  const episode = await source.open(task!, { signal });
  expect(episode.tools).toMatchObject([{ name: "step", parameters: { properties } }]);
  expect(await episode.call("step", { x: 1 }, signal)).toEqual({
    text: '{"board":[1]}',
    done: true,
  });
  await episode.close();
});

it("waits for room: eight episodes on a server that has one", async () => {
  const source = await start();
  const tasks = await tasksOf(source);
  const rewards = await mapConcurrent(tasks, 8, async (task, _index, own) => {
    const episode = await source.open(task, { signal: own });
    const { reward } = (await episode.respond?.("x", own)) ?? {};
    await episode.close();
    return reward;
  });
  expect(rewards).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
  expect(server.peak()).toBe(1);
});

it.each([
  ["a failure of the environment", () => ({ type: "error", data: { code: "EXECUTION_ERROR" } })],
  ["a connection that was cut", () => null],
  ["another shape", () => ({ kind: 1 })],
])("%s fails the call", async (_name, step) => {
  const source = await start({ step });
  const [task] = await tasksOf(source);
  const episode = await source.open(task!, { signal });
  await expect(episode.respond?.("x", signal)).rejects.toMatchObject({
    code: "ENVIRONMENT_FAILED",
  });
  await episode.close();
});

it("a step without a response ends at its limit", async () => {
  server = await startOpenEnvServer({ step: () => ({ type: "observation", data: {} }) });
  const source = new OpenEnvSource({ url: server.url, callTimeoutMs: 200 });
  const [task] = await tasksOf(source);
  const episode = await source.open(task!, { signal });
  const aborted = AbortSignal.abort(new Error("stop"));
  await expect(episode.respond?.("x", aborted)).rejects.toThrow("stop");
  await episode.close();
  expect(environment(`openenv:${server.url}`).name).toBe(source.name);
  expect(() => environment("opneenv:http://a")).toThrow(/no known protocol/u);
  expect(() => environment("openenv:localhost")).toThrow(/no URL/u);
});
