/** An environment class behind OpenEnv's WebSocket, played by our own client and by hand. */
import { afterEach, expect, it } from "vitest";
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
async function talk(url: string, messages: readonly (object | string)[]): Promise<unknown[]> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const responses: unknown[] = [];
  for (const message of messages) {
    const next = new Promise<Buffer>((resolve) =>
      socket.once("message", (data) => resolve(data as Buffer)),
    );
    socket.send(typeof message === "string" ? message : JSON.stringify(message));
    const { type, data } = JSON.parse((await next).toString()) as {
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
