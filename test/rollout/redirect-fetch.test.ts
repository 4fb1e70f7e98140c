/** Applications whose clients are global, with many rollouts at once in one process. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterEach, describe, expect, it } from "vitest";
import { withTrajectory } from "../../src/rollouts/attempt/trajectory-scope.ts";
import { redirectFetch, rolloutFetch } from "../../src/fetch.ts";
import { runThroughGateway } from "./gateway-run.ts";

const undo: (() => void)[] = [];
afterEach(() => undo.splice(0).forEach((restore) => restore()));

const rollouts = 32;
const turns = 4;
const concurrency = 16;

/** Every captured call says which rollout made it, so a call in the wrong one shows. */
async function expectAllAttributed(ask: (question: string) => Promise<unknown>): Promise<void> {
  const { episodes } = await runThroughGateway({
    tasks: Array.from({ length: rollouts }, (_, i) => `task-${i}`),
    limits: { concurrency },
    flow: async (task) => {
      for (let turn = 0; turn < turns; turn++) await ask(`${task.id} turn ${turn}`);
    },
  });
  const calls = episodes.flatMap(({ task, trajectories }) =>
    trajectories.flatMap(({ steps }) =>
      steps.map(({ trace }) => ({
        task: task.id,
        asked: trace.messages.at(-1)?.content as string,
      })),
    ),
  );
  expect(calls).toHaveLength(rollouts * turns);
  expect(calls.filter(({ task, asked }) => !asked.startsWith(`${task} `))).toEqual([]);
}

describe("clients that were created before any rollout", () => {
  it("of the openai package, under a global fetch that redirects", async () => {
    undo.push(redirectFetch());
    const client = new OpenAI({ apiKey: "sk-of-the-application", maxRetries: 0 });
    await expectAllAttributed((content) =>
      client.chat.completions.create({ model: "gpt-x", messages: [{ role: "user", content }] }),
    );
  });

  it("of the openai package, streaming, with the exported fetch", async () => {
    const client = new OpenAI({ apiKey: "sk-x", maxRetries: 0, fetch: rolloutFetch });
    await expectAllAttributed(async (input) => {
      const stream = await client.responses.create({ model: "gpt-x", input, stream: true });
      const types: string[] = [];
      for await (const { type } of stream) types.push(type);
      expect(types.at(-1)).toBe("response.completed");
    });
  });

  it("of the Anthropic package", async () => {
    undo.push(redirectFetch());
    const client = new Anthropic({ apiKey: "sk-ant-x", maxRetries: 0 });
    await expectAllAttributed((content) =>
      client.messages.create({ model: "c", max_tokens: 9, messages: [{ role: "user", content }] }),
    );
  });

  it("make calls of a trajectory inside of withTrajectory", async () => {
    const client = new OpenAI({ apiKey: "sk-x", maxRetries: 0, fetch: rolloutFetch });
    const { episode } = await runThroughGateway({
      flow: () =>
        withTrajectory("planner", () =>
          client.chat.completions.create({
            model: "m",
            messages: [{ role: "user", content: "plan" }],
          }),
        ),
    });
    expect(episode.trajectories.map(({ name }) => name)).toEqual(["planner"]);
  });

  it("reach other hosts, other paths and everything outside of rollouts as before", async () => {
    const seen: string[] = [];
    const before = globalThis.fetch;
    globalThis.fetch = (input) => {
      seen.push(input instanceof Request ? input.url : String(input));
      return Promise.resolve(Response.json({}));
    };
    undo.push(() => {
      globalThis.fetch = before;
    });
    const restore = redirectFetch({ hosts: ["api.openai.com"] });
    await fetch("https://api.openai.com/v1/chat/completions", { method: "POST" });
    await rolloutFetch("https://api.openai.com/v1/files");
    restore();
    expect(seen).toEqual([
      "https://api.openai.com/v1/chat/completions",
      "https://api.openai.com/v1/files",
    ]);
  });
});
