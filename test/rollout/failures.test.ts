import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, it, vi } from "vitest";
import type { AgentConfig, AgentFlow } from "../../src/core/agent.ts";
import { AgentTrainerError } from "../../src/core/errors.ts";
import { isFailed, isFault, isScored } from "../../src/core/outcome.ts";
import { defineEpisode, defineTrajectory } from "../../src/core/report.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import { formatEpisode } from "../../src/cli/report/conversation-text.ts";
import { colorsFor } from "../../src/cli/terminal/terminal.ts";
import { conversationOf } from "../../src/view/episode/view-episode.ts";
import { verdictOf } from "../../src/rollouts/failures/fault.ts";
import { request, retryingAgent, runThroughGateway } from "./gateway-run.ts";

const never = (): Promise<never> => new Promise(() => {});
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const clientOf = ({ baseUrl, apiKey }: AgentConfig): OpenAI =>
  new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });

const say = async (config: AgentConfig, content: string): Promise<string> => {
  const completion = await clientOf(config).chat.completions.create({
    model: config.model,
    messages: [{ role: "user", content }],
  });
  return completion.choices[0]?.message.content ?? "";
};

describe("what an agent makes fail", () => {
  const failing = async (_task: unknown, config: AgentConfig): Promise<string> => {
    JSON.parse(await say(config, "as JSON"));
    return "fine";
  };

  it("is not sampled away: one attempt, its calls kept, scored with failure_reward", async () => {
    const evaluator = vi.fn<() => boolean>(() => true);
    const { episode, events } = await runThroughGateway({
      flow: failing,
      evaluator,
      script: () => "{broken",
      limits: { retries: 2 },
      failures: { reward: -1, retriesAgent: false },
    });
    expect(episode).toMatchObject({
      terminationReason: "error",
      attempts: 1,
      reward: -1,
      isCorrect: false,
      error: { name: "SyntaxError" },
      metrics: { turns: 1, "calls/untrainable": 0 },
    });
    const [trajectory] = episode.trajectories;
    expect([trajectory?.name, trajectory?.reward, trajectory?.steps.length]).toEqual([
      ...["agent", -1, 1],
    ]);
    expect(trajectory?.steps[0]?.trace.response.content).toBe("{broken");
    expect(trajectory?.steps[0]?.trace.logprobs.length).toBe(
      trajectory?.steps[0]?.trace.responseIds.length as number,
    );
    expect(evaluator).not.toHaveBeenCalled();
    expect(events.map(({ type }) => type)).toEqual(["rollout-end"]);
    expect([isFailed(episode), isScored(episode), isFault(episode)]).toEqual([true, true, false]);
  });

  it("keeps roles apart, and what the agent does not train stays untrained", async () => {
    const { episode } = await runThroughGateway({
      flow: async (_task, config) => {
        await request(config.trajectory("solver 1", { role: "solver" }), "solve");
        await request(config.trajectory("title", { train: false }), "title");
        throw new Error("lost");
      },
    });
    const rows = episode.trajectories.map((t) => [
      t.name,
      t.steps.length,
      t.untrained !== undefined,
    ]);
    expect(rows).toEqual([
      ["solver", 1, false],
      ["title", 1, true],
    ]);
  });

  it("is scored at its time limit with what it had done, though a call still hangs", async () => {
    const { episode } = await runThroughGateway({
      limits: { timeoutMs: 800 },
      script: ({ index }) => (index === 0 ? "one" : never()),
      flow: async (_task, config) => {
        await request(config, "one");
        // Heeds no signal, so the gateway has this call until the session is closed.
        await request({ baseUrl: config.baseUrl, apiKey: config.apiKey }, "two").catch(() => {});
      },
    });
    expect(episode).toMatchObject({ terminationReason: "timeout", reward: 0, isCorrect: false });
    expect(episode.trajectories[0]?.steps.map(({ trace }) => trace.response.content)).toEqual([
      "one",
    ]);
    expect([isFailed(episode), isFault(episode)]).toEqual([true, false]);
  });

  it("is what it reports itself with the reason error: scored so, whatever the evaluator would say", async () => {
    const flow = async (_task: unknown, config: AgentConfig) => {
      await request(config, "hi");
      const trajectories = [defineTrajectory({ name: "agent", reward: 1 })];
      return defineEpisode({ trajectories, terminationReason: "error", output: "gave up" });
    };
    const { episode } = await runThroughGateway({
      flow,
      failures: { reward: -1, retriesAgent: false },
    });
    expect(episode).toMatchObject({
      terminationReason: "error",
      output: "gave up",
      reward: -1,
      isCorrect: false,
      trajectories: [{ name: "agent", reward: -1 }],
    });
    expect([isFailed(episode), isFault(episode)]).toEqual([true, false]);
  });

  it("counts against the limit on failures where the model never answered", async () => {
    const { episode } = await runThroughGateway({
      flow: () => {
        throw new TypeError("a bug");
      },
    });
    expect(episode).toMatchObject({ attempts: 1, reward: 0, trajectories: [] });
    expect(isFault(episode)).toBe(true);
  });

  it("does not trip the circuit breaker once the model has answered", async () => {
    const { episodes } = await runThroughGateway({
      flow: failing,
      script: () => "{broken",
      maxFailures: 0,
      tasks: Array.from({ length: 6 }, (_, i) => `t${i}`),
    });
    expect(episodes.map(({ terminationReason }) => terminationReason)).toEqual(
      Array.from({ length: 6 }, () => "error"),
    );
  });

  it("is tried again where retry_agent_errors asks for it, and has no reward in the end", async () => {
    const run = { flow: failing, script: () => "{broken", limits: { retries: 2 } };
    const { episode } = await runThroughGateway({ ...run, failures: retryingAgent });
    expect(episode).toMatchObject({ attempts: 3, reward: null, isCorrect: null, trajectories: [] });
    // Never in a validation, which measures the agent as it is.
    const validation = { ...run, failures: retryingAgent, isValidation: true };
    const measured = await runThroughGateway(validation);
    expect(measured.episode).toMatchObject({ attempts: 1, reward: 0, isCorrect: false });
  });
});

describe("what is not the agent's fault", () => {
  it("is tried again: a 5xx of the server, as the official client throws it", async () => {
    let calls = 0;
    const { episode } = await runThroughGateway({
      limits: { retries: 2 },
      script: () => {
        if (++calls === 1) throw new Error("the engine broke");
        return "second";
      },
      flow: (_task, config) => say(config, "hello"),
    });
    expect(episode).toMatchObject({ attempts: 2, output: "second", reward: 1 });
  });

  it("is tried again where an agent of plain fetch hides the status in a text of its own", async () => {
    let calls = 0;
    const { episode } = await runThroughGateway({
      limits: { retries: 2 },
      script: () => {
        if (++calls === 1) throw new Error("the engine broke");
        return "second";
      },
      flow: async (_task, { baseUrl, apiKey, model }) => {
        const response = await fetch(`${baseUrl}/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` },
          body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] }),
        });
        if (!response.ok) throw new Error("no luck");
        return "fine";
      },
    });
    expect(episode).toMatchObject({ attempts: 2, output: "fine" });
  });

  it("leaves no reward and nothing to train on when it does not pass", async () => {
    const { episode } = await runThroughGateway({
      limits: { retries: 1 },
      script: ({ index }) => {
        if (index % 2 === 1) throw new Error("the engine broke");
        return "first";
      },
      flow: async (_task, config) => {
        await say(config, "one");
        return await say(config, "two");
      },
    });
    expect(episode).toMatchObject({
      attempts: 2,
      terminationReason: "error",
      reward: null,
      trajectories: [],
    });
    expect(isFault(episode)).toBe(true);
  });

  it("is tried again: a set-up that throws", async () => {
    let setUps = 0;
    const { episode } = await runThroughGateway({
      limits: { retries: 1 },
      flow: () => "x",
      hooks: {
        setUp: () => {
          if (++setUps === 1) throw new Error("no sandbox");
        },
      },
    });
    expect(episode).toMatchObject({ attempts: 2, output: "x" });
  });
});

it.each([false, true])(
  "never tries a deterministic 400 again (retry_agent_errors %s)",
  async (retriesAgent) => {
    let calls = 0;
    const { episode } = await runThroughGateway({
      limits: { retries: 2 },
      failures: { reward: 0, retriesAgent },
      flow: async (_task, config) => {
        calls++;
        await clientOf(config).chat.completions.create({ model: config.model, messages: [] });
      },
    });
    expect(calls).toBe(1);
    expect(episode).toMatchObject({ attempts: 1, terminationReason: "error" });
  },
);

it("ends where the prompt is too long, also with Anthropic's client", async () => {
  const { episode } = await runThroughGateway({
    contextLength: 8,
    flow: async (_task, { baseUrl, apiKey, model }) => {
      const baseURL = baseUrl.replace(/\/v1$/u, "");
      const client = new Anthropic({ baseURL, apiKey, maxRetries: 0 });
      await client.messages.create({
        model,
        max_tokens: 8,
        messages: [{ role: "user", content: "far too long for eight tokens" }],
      });
    },
  });
  expect(episode).toMatchObject({ terminationReason: "max_prompt_length_exceeded", reward: 1 });
});

const overflows: AgentFlow = async (task, config) => {
  await request(config, `${task.instruction} This is far too long for sixteen tokens.`);
  return "never";
};

describe("a prompt that does not fit", () => {
  const error = {
    name: "ContextOverflowError",
    code: "CONTEXT_OVERFLOW",
    message: expect.stringMatching(
      /^The prompt has \d+ tokens, but the context window has 16, so no token can follow it\.$/u,
    ),
  };

  it.each([
    ["OpenAI", (config: AgentConfig) => request(config, "far too long for sixteen tokens")],
    [
      "Anthropic",
      ({ baseUrl, apiKey, model }: AgentConfig) =>
        new Anthropic({
          baseURL: baseUrl.replace(/\/v1$/u, ""),
          apiKey,
          maxRetries: 0,
        }).messages.create({
          model,
          max_tokens: 8,
          messages: [{ role: "user", content: "far too long for sixteen tokens" }],
        }),
    ],
  ])("is the error of its rollout, with tokens and limit: %s's client", async (_, flow) => {
    const { episode } = await runThroughGateway({
      contextLength: 16,
      flow: async (_task, config) => void (await flow(config)),
    });
    expect(episode).toMatchObject({ terminationReason: "max_prompt_length_exceeded", error });
    // Once, where people see a rollout.
    const plain = colorsFor({ isTTY: false, write: () => true });
    const once = /context window has 16/gu;
    expect(formatEpisode(conversationOf(episode), plain).match(once)).toHaveLength(1);
    expect(conversationOf(episode).ending.match(once)).toHaveLength(1);
  });

  it.each([
    ["throws", ({ output }: Episode) => (output as string).trim() === "4"],
    ["returns no score", () => undefined as never],
  ])("is not the fault of an evaluator that %s", async (_, evaluate) => {
    const { episode, events } = await runThroughGateway({
      contextLength: 16,
      flow: overflows,
      failures: { reward: -1, retriesAgent: false },
      evaluator: (_task, own) => evaluate(own),
    });
    expect(episode).toMatchObject({
      terminationReason: "max_prompt_length_exceeded",
      reward: -1,
      isCorrect: false,
      error,
    });
    expect(events.filter(({ type }) => type === "evaluator-error")).toEqual([]);
  });

  it("can still be scored by what the agent left behind", async () => {
    const { episode } = await runThroughGateway({
      contextLength: 16,
      flow: overflows,
      evaluator: (_task, { output }) => (output === undefined ? 0.5 : 0),
    });
    expect(episode).toMatchObject({
      terminationReason: "max_prompt_length_exceeded",
      reward: 0.5,
      error,
    });
  });

  it("excuses no evaluator of a rollout that has an output", async () => {
    const { episode } = await runThroughGateway({
      contextLength: 16,
      flow: async (task, config) => {
        try {
          await overflows(task, config);
        } catch {
          return "gave up";
        }
        return "never";
      },
      evaluator: () => {
        throw new Error("broken");
      },
    });
    expect(episode.terminationReason).toBe("evaluator_error");
  });
});

describe("verdictOf", () => {
  const error = (fields: object, cause?: unknown): Error =>
    Object.assign(new Error("x", { cause }), fields);
  const again = { fault: "infrastructure", isFinal: false };
  const agent = { fault: "agent", isFinal: false };

  it.each([
    [
      "a refused connection below two errors",
      error({}, error({}, error({ code: "ECONNREFUSED" }))),
      again,
    ],
    ["undici", error({}, error({ code: "UND_ERR_SOCKET" })), again],
    ["an SDK's connection error", error({ name: "APIConnectionError" }), again],
    ["a status of 503", error({ status: 503 }), again],
    ["a status code of the AI SDK", error({ statusCode: 500 }), again],
    ["its RetryError", error({ lastError: error({ statusCode: 502 }) }), again],
    ["axios", error({ response: { status: 504 } }), again],
    ["too many requests", error({ status: 429 }), again],
    ["a stream that broke", error({ error: { code: "upstream_cut" } }), again],
    ["several", new AggregateError([error({ code: "ECONNRESET" })]), again],
    ["a bad request", error({ status: 400 }), { fault: "agent", isFinal: true }],
    [
      "a 4xx of the worker",
      error({ status: 422, code: "upstream_refused" }),
      { fault: "agent", isFinal: true },
    ],
    ["the time limit of a call", error({ status: 504, error: { code: "timeout" } }), agent],
    [
      "the same as Anthropic's clients have it",
      error({ status: 504, error: { type: "error", error: { type: "timeout_error" } } }),
      agent,
    ],
    ["the agent's own", new SyntaxError("JSON"), agent],
    ["no error at all", "text", agent],
    [
      "a result that cannot be read",
      new AgentTrainerError({ code: "ROLLOUT_FAILED", message: "twice" }),
      { fault: "result", isFinal: false },
    ],
    [
      "a workflow's call that was refused",
      new AgentTrainerError({ code: "ROLLOUT_FAILED", message: "503", fields: { status: 503 } }),
      again,
    ],
    [
      "getters that throw",
      Object.defineProperty(new Error("x"), "cause", {
        get() {
          throw new Error("no");
        },
      }),
      agent,
    ],
  ])("%s", (_, thrown, expected) => {
    expect(verdictOf(thrown, false, null)).toEqual(expected);
  });
});

describe("what cannot be written down", () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  const trap = Object.defineProperty({}, "x", {
    enumerable: true,
    get() {
      throw new Error("hands off");
    },
  });

  it.each([
    ["a cycle", cycle, "a cycle in its output"],
    ["a BigInt", { count: 10n }, "a BigInt in its output"],
    ["a getter that throws", trap, "(Error: hands off) in its output"],
  ])("%s fails its rollout by name", async (_, output, message) => {
    const { episodes } = await runThroughGateway({
      tasks: ["a", "b"],
      limits: { retries: 2 },
      flow: async (task, config) => {
        await request(config, "hi");
        return task.id === "a" ? output : "fine";
      },
    });
    expect(episodes[0]).toMatchObject({
      terminationReason: "error",
      attempts: 1,
      reward: null,
      error: { code: "ROLLOUT_FAILED", message: expect.stringContaining(message) as string },
    });
    expect(() => JSON.stringify(episodes)).not.toThrow();
    expect(episodes[1]).toMatchObject({ terminationReason: "completed", reward: 1 });
  });

  it("an error with getters that throw fails its rollout", async () => {
    const error = Object.defineProperty(new Error("x"), "message", {
      get() {
        throw new Error("hands off");
      },
    });
    const { episode } = await runThroughGateway({
      flow: () => {
        throw error;
      },
    });
    expect(episode).toMatchObject({
      terminationReason: "error",
      error: { name: "NonError", message: "an error that cannot be read was thrown" },
    });
  });

  it("metadata of an evaluator with a BigInt is an evaluator's error", async () => {
    const { episode } = await runThroughGateway({
      flow: () => "x",
      evaluator: () => ({ reward: 1, isCorrect: true, metadata: { size: 1n } }),
    });
    expect(episode).toMatchObject({
      terminationReason: "evaluator_error",
      error: { message: expect.stringContaining("a BigInt in the metadata") as string },
    });
  });
});

it("leaves no key in what is kept of an error", async () => {
  const key = "sk-live-0123456789abcdef";
  const { episode, events } = await runThroughGateway({
    limits: { retries: 1 },
    failures: retryingAgent,
    flow: (_task, { apiKey }) => {
      throw new Error(`401 for ${key} and Bearer ${apiKey}`);
    },
  });
  const kept = JSON.stringify([episode.error, events]);
  expect(kept).toContain("401 for [redacted]");
  expect(kept).not.toContain(key);
  expect(kept).not.toMatch(/session-[\w-]{32,}/u);
});

describe("the task", () => {
  it("is each attempt's own, and the evaluator's is as the data has it", async () => {
    const seen: unknown[] = [];
    const { episodes } = await runThroughGateway({
      tasks: ["a", "a"],
      limits: { concurrency: 1 },
      flow: (task) => {
        const metadata = task.metadata as { gold: string; used?: boolean };
        seen.push({ ...metadata });
        metadata.gold = "stolen";
        metadata.used = true;
        return metadata.gold;
      },
      evaluator: (task, episode) => {
        seen.push([task.metadata["gold"], episode.task.metadata["gold"]]);
        (task.metadata as { gold: string }).gold = "changed";
        return true;
      },
    });
    expect(seen).toEqual([{ gold: "a" }, ["a", "a"], { gold: "a" }, ["a", "a"]]);
    expect(episodes.map(({ task, output }) => [task.metadata, output])).toEqual([
      [{ gold: "a" }, "stolen"],
      [{ gold: "a" }, "stolen"],
    ]);
  });
});

it("gives an agent that outlives its rollout the reason, and nobody else", async () => {
  const late: { status: number; message: string }[] = [];
  const told: Promise<void>[] = [];
  await runThroughGateway({
    limits: { timeoutMs: 200 },
    flow: async (_task, { baseUrl, apiKey }) => {
      const call = async (key: string): Promise<void> => {
        const response = await fetch(`${baseUrl}/models`, {
          headers: { authorization: `Bearer ${key}` },
        });
        const { error } = (await response.json()) as { error: { message: string } };
        late.push({ status: response.status, message: error.message });
      };
      told.push(
        (async () => {
          await wait(400);
          await call(apiKey);
          await call("session-somebody-else");
        })(),
      );
      await never();
    },
    hooks: { setUp: () => ({ tearDown: () => Promise.all(told) }) },
  });
  expect(late.map(({ status }) => status)).toEqual([401, 401]);
  expect(late[0]?.message).toContain("This session is closed");
  expect(late[1]?.message).toBe("The bearer token is missing or does not open this URL.");
});
