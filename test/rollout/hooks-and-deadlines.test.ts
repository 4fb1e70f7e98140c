import { describe, expect, it, vi } from "vitest";
import type { TaskHooks, TaskSetup } from "../../src/core/hooks.ts";
import { request, questions, retryingAgent, runThroughGateway } from "./gateway-run.ts";

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const aborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => {
    signal.addEventListener("abort", resolve);
  });
const never = (): Promise<never> => new Promise(() => {});

describe("hooks", () => {
  it("give each attempt its environment and its evaluator, and clear up after the score", async () => {
    const log: string[] = [];
    const { episodes } = await runThroughGateway({
      tasks: ["a", "b"],
      limits: { retries: 1, concurrency: 1 },
      failures: retryingAgent,
      evaluator: null,
      hooks: {
        setUp: async (task, { attempt, episodeId, isValidation, signal }) => {
          const name = `${task.id}${attempt}`;
          log.push(`set up ${name}`);
          expect([episodeId.startsWith(`1/${task.id}/`), isValidation]).toEqual([true, false]);
          expect(signal.aborted).toBe(false);
          return {
            env: { name },
            evaluator: (_task, { output }) => {
              log.push(`score ${name}`);
              return output === "a2" ? 0.5 : 0.25;
            },
            tearDown: () => log.push(`tear down ${name}`),
          };
        },
      },
      flow: async (_task, config) => {
        const { name } = config.env as { name: string };
        log.push(`run ${name}`);
        if (name === "a1") throw new Error("once");
        await request(config, name);
        return name;
      },
    });
    expect(log).toEqual([
      ...["set up a1", "run a1", "tear down a1"],
      ...["set up a2", "run a2", "score a2", "tear down a2"],
      ...["set up b1", "run b1", "score b1", "tear down b1"],
    ]);
    expect(episodes.map(({ reward, attempts }) => [reward, attempts])).toEqual([
      [0.5, 2],
      [0.25, 1],
    ]);
    expect(episodes[0]?.metrics).toHaveProperty("time/setup_s");
  });

  it("may return nothing, and then the common evaluator scores", async () => {
    const hooks: TaskHooks = { setUp: () => {} };
    const { episode } = await runThroughGateway({ hooks, flow: () => "x", evaluator: () => 7 });
    expect(episode.reward).toBe(7);
  });

  it("leave an episode unscored, and say so, where nobody brings an evaluator", async () => {
    const hooks: TaskHooks = { setUp: () => ({}) };
    const { episode } = await runThroughGateway({ hooks, evaluator: null, flow: () => "x" });
    expect(episode.terminationReason).toBe("evaluator_error");
    expect(episode.error?.message).toContain("there is no evaluator");
  });

  it.each<[string, () => unknown, string]>([
    ["throws", () => Promise.reject(new Error("no disk")), "no disk"],
    ["returns a number", () => 5, "hooks.setUp returned 5."],
    ["brings no real evaluator", () => ({ evaluator: 1 }), "hooks.setUp returned the evaluator 1."],
  ])("whose set-up %s fail the attempt", async (_, setUp, message) => {
    const flow = vi.fn<() => string>(() => "x");
    const hooks = { setUp } as TaskHooks;
    const { episode } = await runThroughGateway({ hooks, flow, limits: { retries: 1 } });
    expect(episode).toMatchObject({ terminationReason: "error", attempts: 2, error: { message } });
    expect(flow).not.toHaveBeenCalled();
  });
});

describe("deadlines", () => {
  it("end a set-up that hangs, and tear down what it makes too late", async () => {
    const tornDown: number[] = [];
    const signals: AbortSignal[] = [];
    const hooks: TaskHooks = {
      setUp: async (_task, { attempt, signal }): Promise<TaskSetup> => {
        signals.push(signal);
        if (attempt === 1) await wait(80);
        return { tearDown: () => tornDown.push(attempt) };
      },
    };
    const { episode } = await runThroughGateway({
      hooks,
      flow: () => "second",
      limits: { setUpTimeoutMs: 40, retries: 1 },
    });
    expect(episode).toMatchObject({ output: "second", attempts: 2 });
    expect(signals.map((signal) => signal.aborted)).toEqual([true, false]);
    await vi.waitFor(() => {
      expect(tornDown).toEqual([2, 1]);
    });
  });

  it("make a set-up that always hangs a timeout", async () => {
    const hooks: TaskHooks = { setUp: never };
    const { episode } = await runThroughGateway({ hooks, limits: { setUpTimeoutMs: 10 } });
    expect(episode).toMatchObject({
      terminationReason: "timeout",
      error: { message: 'The setup of task "a" did not finish within 10 ms.' },
    });
  });

  it("end a tear-down that hangs or throws, with a warning, and keep the episode", async () => {
    const tearDowns = [never, () => Promise.reject(new Error("stuck"))];
    for (const tearDown of tearDowns) {
      const hooks: TaskHooks = { setUp: () => ({ tearDown }) };
      const { episode, events } = await runThroughGateway({
        ...{ hooks, flow: () => "kept", limits: { tearDownTimeoutMs: 10 } },
      });
      expect(episode).toMatchObject({ output: "kept", reward: 1, attempts: 1 });
      expect(events.find(({ type }) => type === "warning")).toMatchObject({
        message: expect.stringMatching(/^The teardown of task "a" failed: (stuck|It did not)/u),
      });
    }
  });

  it("tear down after an agent that hangs, and after an evaluator that does", async () => {
    let count = 0;
    const hooks: TaskHooks = { setUp: () => ({ tearDown: () => count++ }) };
    const late = await runThroughGateway({ hooks, flow: never, limits: { timeoutMs: 15 } });
    const limits = { evaluatorTimeoutMs: 15 };
    const unscored = await runThroughGateway({ hooks, flow: () => 1, evaluator: never, limits });
    expect(late.episode.terminationReason).toBe("timeout");
    expect(unscored.episode.terminationReason).toBe("evaluator_error");
    expect(count).toBe(2);
  });

  it.each(["agent", "evaluator"])(
    "tear down also when the run is stopped while the %s is at work",
    async (phase) => {
      const run = new AbortController();
      const reason = new Error("stop");
      let count = 0;
      const stop = (): Promise<never> => {
        run.abort(reason);
        return never();
      };
      const result = runThroughGateway({
        signal: run.signal,
        hooks: { setUp: () => ({ tearDown: () => count++ }) },
        flow: phase === "agent" ? stop : () => "x",
        evaluator: stop,
      });
      await expect(result).rejects.toBe(reason);
      expect(count).toBe(1);
    },
  );

  it("end one model call that hangs, and leave the rollout to the agent", async () => {
    const { episode } = await runThroughGateway({
      callTimeoutMs: 400,
      script: ({ index }) => (index === 0 ? never() : "second"),
      flow: async (_task, config) => {
        const first = await request(config, "first").catch((error: unknown) => error);
        const { content } = await request(config, "second");
        return [first instanceof Error, content];
      },
    });
    expect(episode).toMatchObject({ output: [true, "second"], terminationReason: "completed" });
    expect(questions(episode)).toEqual({ agent: ["second"] });
  });

  it("W39: make an agent that hangs a timeout, whose late calls and result are nowhere", async () => {
    const done: string[] = [];
    const { episode } = await runThroughGateway({
      limits: { timeoutMs: 600, retries: 1 },
      failures: retryingAgent,
      flow: async (_task, config) => {
        const isFirst = config.sessionUid.endsWith("#1");
        await request(config, isFirst ? "early" : "clean");
        if (isFirst) await aborted(config.signal);
        const late = await request(config, "late").catch(() => null);
        done.push(`${isFirst ? "first" : "second"}: ${late === null ? "refused" : "answered"}`);
        return isFirst ? "stale" : "fresh";
      },
    });
    await vi.waitFor(() => {
      expect(done.toSorted()).toEqual(["first: refused", "second: answered"]);
    });
    expect(episode).toMatchObject({ output: "fresh", attempts: 2 });
    expect(questions(episode)).toEqual({ agent: ["clean", "late"] });
  });
});

describe("the circuit breaker", () => {
  const tasks = Array.from({ length: 20 }, (_, i) => `t${i}`);

  it("cuts the rest off once too many have failed, and starts no more", async () => {
    let started = 0;
    const signals: AbortSignal[] = [];
    const { episodes, events } = await runThroughGateway({
      tasks,
      maxFailures: 2,
      limits: { concurrency: 4 },
      flow: async (task, { signal }) => {
        started++;
        signals.push(signal);
        if (task.id === "t0") return await never();
        await wait(2);
        throw new Error(`broken ${task.id}`);
      },
    });
    const reasons = episodes.map(({ terminationReason }) => terminationReason);
    expect(reasons[0]).toBe("aborted");
    expect(reasons.filter((reason) => reason === "error").length).toBeLessThanOrEqual(5);
    expect(reasons.filter((reason) => reason === "aborted").length).toBeGreaterThanOrEqual(15);
    expect(episodes.map(({ task }) => task.id)).toEqual(tasks);
    expect(started).toBeLessThan(8);
    expect(signals.every((signal) => signal.aborted)).toBe(true);
    expect(events.filter(({ type }) => type === "warning")).toEqual([
      {
        type: "warning",
        message: "3 of 20 rollouts have failed, so the remaining ones were cut off.",
      },
    ]);
    expect(events.filter(({ type }) => type === "rollout-end")).toHaveLength(20);
  });

  it("W20: lets the others finish when one fails permanently, whatever its retries", async () => {
    const { episodes } = await runThroughGateway({
      tasks,
      maxFailures: 2,
      limits: { retries: 1 },
      failures: retryingAgent,
      flow: (task) => {
        if (task.id === "t3" || task.id === "t4") throw new Error("always");
        return task.id;
      },
    });
    const failed = episodes.filter(({ terminationReason }) => terminationReason === "error");
    expect(failed.map(({ task, attempts }) => [task.id, attempts])).toEqual([
      ["t3", 2],
      ["t4", 2],
    ]);
    expect(episodes.filter(({ reward }) => reward === 1)).toHaveLength(18);
  });

  it("counts rollouts that cannot be scored", async () => {
    const { episodes } = await runThroughGateway({
      tasks,
      maxFailures: 0,
      limits: { concurrency: 1 },
      evaluator: () => NaN,
    });
    const reasons = episodes.map(({ terminationReason }) => terminationReason);
    expect(reasons).toEqual(["evaluator_error", ...Array.from({ length: 19 }, () => "aborted")]);
  });
});
