/** An environment class, served over ORS and trained on by its address. */
import { afterEach, expect, it } from "vitest";
import { evaluate } from "../../src/launch/evaluate/evaluate.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import {
  defineEnvironment,
  serveEnvironment,
  type EnvironmentServer,
  type ToolAction,
} from "../../src/environments/index.ts";
import { createScriptedTarget } from "../../src/testing/index.ts";
import type { AgentFlow } from "../../src/core/agent.ts";

let server: EnvironmentServer | undefined;
let closed = 0;
afterEach(async () => {
  await server?.close();
  server = undefined;
  closed = 0;
});

class Sum {
  readonly #wanted: number;
  #tries = 0;
  constructor({ a, b }: { readonly a: number; readonly b: number }) {
    this.#wanted = a + b;
  }
  reset() {
    return { observation: `The sum has ${String(this.#wanted).length} digits.` };
  }
  step({ arguments: { sum } }: ToolAction) {
    const isRight = sum === this.#wanted;
    const done = isRight || ++this.#tries === 3;
    return { observation: isRight ? "right" : "wrong", reward: isRight ? 1 : -0.25, done };
  }
  close() {
    closed++;
  }
}

const parameters = { type: "object", properties: { sum: { type: "integer" } } };
const sums = defineEnvironment({
  name: "Sums",
  envClass: Sum,
  tasks: {
    train: [{ question: "2 + 2?", a: 2, b: 2 }],
    test: [{ question: "3 + 4?", a: 3, b: 4 }],
  },
  tools: [{ name: "answer", parameters }],
});
const call = (sum: unknown): string =>
  `<tool_call>${JSON.stringify({ name: "answer", arguments: { sum } })}</tool_call>`;

it.each(["served", "in this process"])("%s: tool calls, rewards and signals", async (where) => {
  server = await serveEnvironment(sums, { port: 0 });
  const env = where === "served" ? `ors:${server.url}` : sums;
  const target = createScriptedTarget([call(6), call("x"), call(7)]);
  const { items, summary } = await evaluate({
    env,
    config: { environment: { valSplit: "test" } },
    model: target,
  });
  expect(summary.reward?.mean).toBe(0.5);
  expect(items).toMatchObject([{ reward: 0.5, terminationReason: "env_done" }]);
  expect(closed).toBe(1);
});

it("ends at the limit of turns, and tells the model what was wrong with a call", async () => {
  const prompts: string[] = [];
  const target = createScriptedTarget(({ text }) => {
    prompts.push(text);
    return '<tool_call>{"name":"answer","arguments":[1]}</tool_call>';
  });
  const { items } = await evaluate({
    env: sums,
    config: { environment: { valSplit: "test", maxTurns: 2 } },
    model: target,
  });
  expect(items).toMatchObject([{ reward: 0, terminationReason: "max_turns_exceeded" }]);
  expect(prompts[1]).toContain("The arguments of this call are not a JSON object.");
});

it("gives the user's own agent its episode, and scores it", async () => {
  const flow: AgentFlow = async (_task, config) => {
    const { environment } = config;
    await fetch(`${config.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${config.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model: config.model, messages: environment?.prompt }),
    });
    await environment?.call("answer", { sum: 1 }, config.signal);
    return (await environment?.call("answer", { sum: 7 }, config.signal))?.text;
  };
  const { items } = await evaluate({
    agentFlow: flow,
    env: sums,
    config: { environment: { valSplit: "test", reward: "last" } },
    model: createScriptedTarget(["hm"]),
  });
  expect(items).toMatchObject([{ reward: 1, output: "right" }]);
});

it("an environment in code and another one in the options contradict each other", () => {
  const config = { model: { name: "builtin:shop-tiny" }, env: "ors:http://127.0.0.1:1" };
  expect(() => new AgentTrainer({ env: sums, config })).toThrow(/would be ignored/u);
});

it("asks for the key, and listens beyond this machine only with one", async () => {
  await expect(serveEnvironment(sums, { port: 0, host: "0.0.0.0" })).rejects.toThrow(/apiKey/u);
  server = await serveEnvironment(sums, { port: 0, apiKey: "key" });
  const without = await fetch(`${server.url}/list_environments`);
  expect(without.status).toBe(401);
  const headers = { "x-api-key": "key" };
  const withKey = await fetch(`${server.url}/list_environments`, { headers });
  expect(await withKey.json()).toEqual(["sums"]);
});

it("refuses a body that is too large, whether or not its size is declared", async () => {
  server = await serveEnvironment(sums, { port: 0 });
  const piece = new Uint8Array(2 ** 20).fill(32);
  let sent = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      // Far beyond what the server may read.
      if (++sent > 200) controller.close();
      else controller.enqueue(piece);
    },
  });
  for (const body of [Buffer.alloc(65 * 2 ** 20, 32), endless]) {
    const init = { method: "POST", body, duplex: "half" };
    const response = await fetch(`${server.url}/create`, init as RequestInit);
    expect(response.status).toBe(413);
    expect(await response.json()).toEqual({ detail: "The request is too large" });
  }
});
