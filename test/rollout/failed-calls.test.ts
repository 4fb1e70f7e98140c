/** Calls that failed while the agent went on, as frameworks do that swallow errors: the rollout says so. */
import { createOpenAI } from "@ai-sdk/openai";
import { streamText } from "ai";
import OpenAI from "openai";
import { expect, it } from "vitest";
import { formatEpisode } from "../../src/cli/report/conversation-text.ts";
import { colorsFor } from "../../src/cli/terminal/terminal.ts";
import type { AgentConfig } from "../../src/core/agent.ts";
import { ownMetrics } from "../../src/runs/episode-metrics.ts";
import { conversationOf } from "../../src/view/episode/view-episode.ts";
import { gate } from "../gateway/function-client.ts";
import { renderer } from "../gateway/http-world.ts";
import { createGateway } from "../../src/gateway/index.ts";
import { createScriptedTarget, createUpstream } from "../../src/testing/index.ts";
import { request, runThroughGateway } from "./gateway-run.ts";

const clientOf = ({ baseUrl, apiKey }: AgentConfig, maxRetries = 0): OpenAI =>
  new OpenAI({ baseURL: baseUrl, apiKey, maxRetries });
const swallow = (): string => "";
const ask = (content: string) => [{ role: "user" as const, content }];

it("a refused call that the agent swallowed is in the episode, its metrics, the viewer and show", async () => {
  const { episode } = await runThroughGateway({
    flow: async (_task, config) => {
      const first = await request(config, "q");
      // An id that this session has not made, as a framework may keep one.
      await clientOf(config)
        .responses.create({ model: "m", input: [{ type: "item_reference", id: "msg_x" }] as never })
        .catch(swallow);
      return first.content;
    },
  });
  expect([episode.reward, episode.terminationReason]).toEqual([1, "completed"]);
  expect(episode.failedCalls).toEqual([
    { status: 404, message: expect.stringContaining("Item with id 'msg_x' not found") as string },
  ]);
  expect(ownMetrics([episode], "")["episode/calls/failed"]).toBe(1);
  const words = "A model call failed and had no successful repetition: Item with id 'msg_x'";
  expect(formatEpisode(conversationOf(episode), colorsFor({ write: () => true }))).toContain(words);
  expect(conversationOf(episode).ending).toContain(words);
});

it("so is a stream that ended in an error", async () => {
  const { episode } = await runThroughGateway({
    callTimeoutMs: 100,
    script: ({ text }) =>
      text.includes("stuck") ? new Promise<string>(() => undefined) : Promise.resolve("ok"),
    flow: async (_task, config) => {
      const stream = await clientOf(config)
        .chat.completions.create({ model: "m", messages: ask("stuck"), stream: true })
        .catch(() => null);
      const parts: unknown[] = [];
      if (stream) for await (const part of stream) parts.push(part);
      return (await request(config, "q")).content;
    },
  });
  expect(episode.output).toBe("ok");
  expect(episode.failedCalls).toMatchObject([{ status: 504 }]);
});

it("so is a stream that broke after its first words, which the AI SDK ends without a throw", async () => {
  await using upstream = await createUpstream({
    script: () => "The lamp costs 12 euros.",
    fault: () => ({ type: "reset", after: 1_500 }),
  });
  const { episode } = await runThroughGateway({
    target: { kind: "http", workers: [{ url: upstream.url }], renderer, retryDelayMs: 1 },
    flow: async (_task, { baseUrl: baseURL, apiKey }) => {
      const { textStream } = streamText({
        model: createOpenAI({ baseURL, apiKey })("scripted"),
        prompt: "How much is the lamp?",
        maxRetries: 0,
        onError: () => undefined,
      });
      let text = "";
      for await (const part of textStream) text += part;
      return text;
    },
  });
  const output = episode.output as string;
  expect(output).not.toBe("");
  expect("The lamp costs 12 euros.".startsWith(output)).toBe(true);
  expect(output.length).toBeLessThan("The lamp costs 12 euros.".length);
  expect(upstream.calls).toHaveLength(1);
  expect(episode.trajectories.flatMap(({ steps }) => steps)).toEqual([]);
  expect(episode.failedCalls).toMatchObject([{ status: 502 }]);
  expect(ownMetrics([episode], "")["episode/calls/failed"]).toBe(1);
  expect(conversationOf(episode).ending).toContain("A model call failed");
});

it("one that was repeated with success is not, also when the client sent something else between", async () => {
  let failures = 2;
  const { episode } = await runThroughGateway({
    script: ({ text }) => {
      if (text.includes("flaky") && failures-- > 0) throw new Error("out of luck");
      return "ok";
    },
    flow: async (_task, config) => {
      const flaky = { model: "m", messages: ask("flaky") };
      await clientOf(config).chat.completions.create(flaky).catch(swallow);
      await request(config, "between");
      // The second failure is repeated by the client itself.
      return (await clientOf(config, 2).chat.completions.create(flaky)).choices[0]!.message
        .content!;
    },
  });
  expect(failures).toBe(-1);
  expect(episode.output).toBe("ok");
  expect(episode.failedCalls).toBeUndefined();
  expect(episode.metrics["calls/failed"]).toBe(0);
});

it("a prompt that was too long is repeated by one that was shortened before its last message", async () => {
  const send = async (config: AgentConfig, ...texts: readonly string[]): Promise<string> => {
    const messages = texts.flatMap(ask);
    const completion = await clientOf(config)
      .chat.completions.create({ model: "m", messages })
      .catch(() => null);
    return completion?.choices[0]?.message.content ?? "";
  };
  const long = "x".repeat(500);
  const run = (...shortened: readonly string[]) =>
    runThroughGateway({
      contextLength: 128,
      flow: async (_task, config) =>
        (await send(config, "q", long, "and?")) || (await send(config, ...shortened)),
    });
  const continued = (await run("q", "and?")).episode;
  expect(continued.output).toBe("ok");
  expect(continued.failedCalls).toBeUndefined();
  const other = (await run("q", "a title")).episode;
  expect(other.output).toBe("ok");
  expect(other.failedCalls).toMatchObject([{ status: 400 }]);
});

it("a rollout that failed for its agent has the calls that failed before", async () => {
  const { episode } = await runThroughGateway({
    contextLength: 64,
    flow: async (_task, config) => {
      await request(config, "q");
      await clientOf(config)
        .chat.completions.create({ model: "m", messages: ask("x".repeat(500)) })
        .catch(swallow);
      throw new TypeError("no content");
    },
  });
  expect(episode.terminationReason).toBe("error");
  expect(episode.failedCalls).toMatchObject([{ status: 400 }]);
});

it("a call that its client cut is one, and says that nobody was told", async () => {
  const [entered, released] = [gate(), gate()];
  const script = async () => {
    entered.open();
    await released.opened;
    return "late";
  };
  await using gateway = createGateway({ target: createScriptedTarget(script), model: "m" });
  await gateway.listen();
  const session = await gateway.sessions.open({ uid: "cut", seed: 1, sampling: {} });
  const leave = new AbortController();
  const called = gateway.fetch(
    new Request(`${session.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${session.apiKey}` },
      body: JSON.stringify({ messages: ask("q") }),
      signal: leave.signal,
    }),
  );
  await entered.opened;
  leave.abort();
  released.open();
  await called.catch(swallow);
  const [trace] = await session.traces();
  expect(trace?.untrainable).toBe("client disconnected");
  expect(session.failedCalls?.()).toEqual([
    { status: null, message: "The model call was aborted because the client disconnected." },
  ]);
});
