import { afterEach, describe, expect, it, vi } from "vitest";
import { defineTrajectory } from "../core/report.ts";
import type { AgentConfig, AgentFlow, Evaluator, TrajectoryHandle } from "../core/agent.ts";
import { ConfigError } from "../core/errors.ts";
import { defaultSampling } from "../core/policy.ts";
import type { RolloutSession, SessionHost, SessionOptions } from "../core/session.ts";
import type { Trace } from "../core/trace.ts";
import type { Episode } from "../core/trajectory.ts";
import { deriveSeed } from "../util/random.ts";
import type { FailurePolicy, RolloutLimits, RolloutRequest } from "./rollout-request.ts";
import { flowProgram } from "./programs/function-programs.ts";
import type { RolloutEvent } from "../core/events.ts";
import { createRolloutRunner } from "./runner.ts";

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const never = (): Promise<never> => new Promise(() => {});

/** A model call of a flow: one prompt id, one response id. */
interface Call {
  readonly prompt: number;
  readonly response: number;
  /** Sampling is done when this is. */
  readonly until?: Promise<unknown>;
  readonly changes?: Partial<Trace>;
}

class FakeSession implements RolloutSession {
  readonly apiKey = "key";
  readonly model = "model";
  readonly baseUrl: string;
  readonly options: SessionOptions;
  readonly captured: Trace[] = [];
  isClosed = false;
  private dispatched = 0;

  constructor(options: SessionOptions) {
    this.options = options;
    this.baseUrl = `fake:${options.uid}|`;
  }

  get uid(): string {
    return this.options.uid;
  }

  trajectory(name: string): TrajectoryHandle {
    const uid = `${this.uid}~${name}`;
    return { uid, name, baseUrl: `fake:${this.uid}|${uid}`, apiKey: this.apiKey };
  }

  /** Numbered at dispatch, recorded at completion. */
  async call(trajectoryUid: string | null, call: Call): Promise<number> {
    const sequence = this.dispatched++;
    const id = `${this.uid}/${sequence}`;
    await call.until;
    if (this.isClosed) throw new Error("session closed");
    this.captured.push({
      id,
      responseId: id,
      sessionUid: this.uid,
      trajectoryUid,
      sequence,
      choice: 0,
      protocol: "openai-chat",
      model: "model",
      messages: [],
      tools: [],
      response: { role: "assistant", content: "" },
      promptIds: Int32Array.of(call.prompt),
      responseIds: Int32Array.of(call.response),
      logprobs: Float32Array.of(-1),
      logprobKind: "raw",
      stopReason: "stop",
      weightVersion: 0,
      sampling: { ...defaultSampling, seed: 0, stopTokenIds: [] },
      parentId: null,
      startedAt: 0,
      finishedAt: 0,
      ...call.changes,
    });
    return call.response;
  }

  traces(): Promise<readonly Trace[]> {
    return Promise.resolve(this.captured.slice());
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }
}

class FakeHost implements SessionHost {
  readonly sessions: FakeSession[] = [];

  open(options: SessionOptions): Promise<RolloutSession> {
    const session = new FakeSession(options);
    this.sessions.push(session);
    return Promise.resolve(session);
  }

  /** What an SDK does with a base URL. */
  async call(baseUrl: string, call: Call): Promise<number> {
    const [, uid, trajectoryUid] = /^fake:(.*)\|(.*)$/u.exec(baseUrl) ?? [];
    const session = this.sessions.find((known) => known.uid === uid);
    if (session === undefined) throw new Error(`no session ${uid}`);
    return await session.call(trajectoryUid === "" ? null : (trajectoryUid ?? null), call);
  }
}

const limits: RolloutLimits = {
  concurrency: 4,
  setUpTimeoutMs: 2_000,
  timeoutMs: 2_000,
  tearDownTimeoutMs: 2_000,
  evaluatorTimeoutMs: 2_000,
  retries: 2,
  retryDelayMs: 1,
};

function request(taskId: string, rolloutIndex = 0): RolloutRequest {
  return {
    task: { id: taskId, instruction: "go", metadata: { gold: 2 } },
    rolloutIndex,
    episodeId: `1/${taskId}/${rolloutIndex}`,
    seed: 42,
  };
}

interface Scenario {
  readonly flow: AgentFlow;
  readonly host?: FakeHost;
  readonly evaluator?: Evaluator;
  readonly limits?: Partial<RolloutLimits>;
  /** @default what the agent does is tried again */
  readonly failures?: FailurePolicy;
  readonly requests?: readonly RolloutRequest[];
  readonly signal?: AbortSignal;
  readonly events?: RolloutEvent[];
}

async function run(scenario: Scenario): Promise<readonly Episode[]> {
  const runner = createRolloutRunner({
    host: scenario.host ?? new FakeHost(),
    program: flowProgram(scenario.flow),
    evaluator: scenario.evaluator ?? (() => true),
    failures: scenario.failures ?? { reward: 0, retriesAgent: true },
    limits: { ...limits, ...scenario.limits },
  });
  return await runner.run(scenario.requests ?? [request("a")], {
    sampling: { temperature: 0.7 },
    isValidation: false,
    signal: scenario.signal ?? new AbortController().signal,
    onEvent: (event) => scenario.events?.push(event),
  });
}

async function runOne(scenario: Scenario): Promise<Episode> {
  const [episode] = await run(scenario);
  if (episode === undefined) throw new Error("no episode");
  return episode;
}

const responses = (episode: Episode): Record<string, number[]> =>
  Object.fromEntries(
    episode.trajectories.map((t) => [
      t.name,
      t.steps.flatMap((step) => [...step.trace.responseIds]),
    ]),
  );

afterEach(() => {
  vi.useRealTimers();
});

describe("rollout runner", () => {
  it("gives the flow its session and turns its calls into a scored trajectory", async () => {
    const host = new FakeHost();
    const events: RolloutEvent[] = [];
    let seen: AgentConfig | undefined;
    const episode = await runOne({
      host,
      events,
      flow: async (_task, config) => {
        seen = config;
        await host.call(config.baseUrl, { prompt: 1, response: 2 });
        return host.call(config.baseUrl, {
          prompt: 3,
          response: 4,
          changes: { stopReason: "length" },
        });
      },
      evaluator: (task, { output }) => ({
        reward: output === 4 ? 0.5 : 0,
        isCorrect: task.metadata["gold"] === 4,
        signals: [{ name: "format", value: 0.25 }],
        metadata: { note: "n" },
      }),
    });
    expect(seen).toMatchObject({
      baseUrl: "fake:1/a/0#1|",
      apiKey: "key",
      model: "model",
      sessionUid: "1/a/0#1",
      isValidation: false,
      samplingParams: { temperature: 0.7 },
    });
    expect(host.sessions.map((s) => [s.options.seed, s.options.sampling, s.isClosed])).toEqual([
      [deriveSeed(42, 1), { temperature: 0.7 }, true],
    ]);
    expect(episode).toMatchObject({
      id: "1/a/0",
      rolloutIndex: 0,
      output: 4,
      reward: 0.5,
      isCorrect: false,
      // The last response was cut off.
      terminationReason: "max_response_length_exceeded",
      attempts: 1,
      metadata: { note: "n" },
      metrics: {
        turns: 2,
        "tokens/prompt": 2,
        "tokens/response": 2,
        truncated: 1,
        "signal/format": 0.25,
        "calls/untrainable": 0,
      },
    });
    expect(episode.metrics).toHaveProperty("time/flow_s");
    expect(episode.metrics).toHaveProperty("time/evaluator_s");
    expect(episode.trajectories).toEqual([
      expect.objectContaining({ name: "agent", reward: 0.5, signals: { format: 0.25 } }),
    ]);
    expect(responses(episode)).toEqual({ agent: [2, 4] });
    expect(events).toEqual([
      {
        type: "rollout-end",
        episodeId: "1/a/0",
        taskId: "a",
        reward: 0.5,
        terminationReason: "max_response_length_exceeded",
        isValidation: false,
        episode: expect.objectContaining({ id: "1/a/0", reward: 0.5 }),
      },
    ]);
  });

  it("names the calls of a flow object after it, and keeps rewards that the flow reported", async () => {
    const host = new FakeHost();
    const episode = await runOne({
      host,
      flow: {
        name: "planner",
        async run(_task, config) {
          const judge = config.trajectory("judge");
          await host.call(config.baseUrl, { prompt: 1, response: 2 });
          await host.call(judge.baseUrl, { prompt: 1, response: 3 });
          return defineTrajectory({ name: "judge", reward: -1 });
        },
      },
      evaluator: { evaluate: () => Promise.resolve([0.75, true] as const) },
    });
    expect(episode.trajectories.map((t) => [t.name, t.reward])).toEqual([
      ["planner", 0.75],
      ["judge", -1],
    ]);
    expect(episode.output).toBeUndefined();
  });

  it("gives concurrent sub-agents their own calls when they complete in another order", async () => {
    const host = new FakeHost();
    const episode = await runOne({
      host,
      flow: async (_task, config) => {
        let finishFirst = (): void => {};
        const first = new Promise<void>((resolve) => {
          finishFirst = resolve;
        });
        const handles = ["solver:1", "solver:2"].map((name) => config.trajectory(name));
        const answers = Promise.all([
          host.call(handles[0]?.baseUrl ?? "", { prompt: 1, response: 10, until: first }),
          host.call(handles[1]?.baseUrl ?? "", { prompt: 1, response: 20 }),
        ]);
        await host.call(config.trajectory("solver:2").baseUrl, { prompt: 1, response: 21 });
        finishFirst();
        await answers;
        await host.call(config.trajectory("judge").baseUrl, { prompt: 1, response: 30 });
        return [
          defineTrajectory({ name: "judge", reward: 3 }),
          defineTrajectory({ name: "solver:2", reward: 2 }),
          defineTrajectory({ name: "solver:1", reward: 1 }),
        ];
      },
    });
    expect(host.sessions[0]?.captured.map((t) => t.responseIds[0])).toEqual([20, 21, 10, 30]);
    expect(responses(episode)).toEqual({ "solver:1": [10], "solver:2": [20, 21], judge: [30] });
    expect(episode.trajectories.map((t) => [t.name, t.reward])).toEqual([
      ["solver:1", 1],
      ["solver:2", 2],
      ["judge", 3],
    ]);
  });

  describe("failures", () => {
    it("records a flow that always throws, and never rejects", async () => {
      const host = new FakeHost();
      const events: RolloutEvent[] = [];
      const evaluator = vi.fn<() => boolean>(() => true);
      const episode = await runOne({
        host,
        events,
        evaluator,
        flow: (_task, config) => {
          throw new TypeError(`no luck in ${config.sessionUid}`);
        },
      });
      expect(episode).toMatchObject({
        terminationReason: "error",
        attempts: 3,
        trajectories: [],
        reward: null,
        isCorrect: null,
        error: { name: "TypeError", message: "no luck in 1/a/0#3" },
      });
      expect(episode.error?.stack).toContain("runner.test.ts");
      expect(host.sessions.map((s) => [s.uid, s.options.seed, s.isClosed])).toEqual(
        [1, 2, 3].map((n) => [`1/a/0#${n}`, deriveSeed(42, n), true]),
      );
      expect(evaluator).not.toHaveBeenCalled();
      expect(events.map((e) => (e.type === "rollout-retry" ? e.attempt : e.type))).toEqual([
        1,
        2,
        "rollout-end",
      ]);
    });

    it.each([
      ["a rejection", () => Promise.reject(new Error("late"))],
      // oxlint-disable-next-line no-throw-literal, typescript/only-throw-error
      [
        "a thrown string",
        () => {
          throw "text";
        },
      ],
      ["a mixed list", () => [defineTrajectory({ name: "x" }), 1]],
    ])("retries after %s", async (_, fail) => {
      let attempts = 0;
      const episode = await runOne({
        flow: () => (++attempts === 1 ? fail() : "fine"),
      });
      expect(episode).toMatchObject({
        attempts: 2,
        output: "fine",
        terminationReason: "completed",
      });
      expect(episode).not.toHaveProperty("error");
    });

    it("doubles the pause between attempts", async () => {
      vi.useFakeTimers();
      const starts: number[] = [];
      const episode = runOne({
        limits: { retryDelayMs: 100, retries: 3 },
        flow: () => {
          starts.push(Date.now());
          throw new Error("no");
        },
      });
      await vi.runAllTimersAsync();
      await episode;
      expect(starts.slice(1).map((time, i) => time - (starts[i] ?? 0))).toEqual([100, 200, 400]);
    });

    it("ends a flow that never returns at its deadline", async () => {
      const host = new FakeHost();
      const signals: AbortSignal[] = [];
      const episode = await runOne({
        host,
        limits: { timeoutMs: 10, retries: 1 },
        flow: (_task, config) => {
          signals.push(config.signal);
          return never();
        },
      });
      expect(episode).toMatchObject({
        terminationReason: "timeout",
        attempts: 2,
        trajectories: [],
        error: {
          name: "DeadlineError",
          message: 'The agent flow on task "a" did not finish within 10 ms.',
        },
      });
      expect(signals.map((s) => s.aborted)).toEqual([true, true]);
      expect(host.sessions.map((s) => s.isClosed)).toEqual([true, true]);
    });

    it("calls it a timeout when the flow heeds its signal", async () => {
      const episode = await runOne({
        limits: { timeoutMs: 10, retries: 0 },
        flow: async (_task, { signal }) => {
          await new Promise<void>((resolve) => {
            signal.addEventListener("abort", () => {
              resolve();
            });
          });
          throw new DOMException("stopped", "AbortError");
        },
      });
      expect(episode).toMatchObject({ terminationReason: "timeout" });
    });

    it("drops what an attempt does after its deadline", async () => {
      const unhandled = vi.fn<(reason: unknown) => void>();
      process.on("unhandledRejection", unhandled);
      const host = new FakeHost();
      const late: Promise<unknown>[] = [];
      let release = (): void => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const episode = await runOne({
        host,
        limits: { timeoutMs: 10, retries: 2 },
        flow: async (_task, config) => {
          const attempt = host.sessions.length;
          await host.call(config.baseUrl, { prompt: 1, response: attempt });
          if (attempt === 3) {
            release();
            await Promise.allSettled(late);
            return "third";
          }
          // Outlives the deadline; then the first attempt rejects and the second returns.
          const call = host.call(config.baseUrl, { prompt: 1, response: 99, until: released });
          late.push(call);
          if (attempt === 1) await call;
          else await call.catch(() => {});
          return "too late";
        },
      });
      await Promise.allSettled(late);
      await wait(0);
      process.off("unhandledRejection", unhandled);
      expect(unhandled).not.toHaveBeenCalled();
      expect(episode).toMatchObject({ output: "third", attempts: 3 });
      expect(responses(episode)).toEqual({ agent: [3] });
    });

    it("stops the calls that a failed attempt left behind", async () => {
      const host = new FakeHost();
      const signals: AbortSignal[] = [];
      await runOne({
        host,
        limits: { retries: 0 },
        flow: (_task, config) => {
          signals.push(config.signal);
          throw new Error("no");
        },
      });
      expect(signals[0]?.aborted).toBe(true);
    });

    it("survives a host that cannot open, and closes a session that opens too late", async () => {
      class SlowHost extends FakeHost {
        override async open(options: SessionOptions): Promise<RolloutSession> {
          if (options.uid.endsWith("#1")) throw new Error("no room");
          if (options.uid.endsWith("#2")) await wait(20);
          return await super.open(options);
        }
      }
      const host = new SlowHost();
      const episode = await runOne({ host, limits: { timeoutMs: 10 }, flow: () => "ok" });
      expect(episode).toMatchObject({ output: "ok", attempts: 3 });
      await wait(20);
      expect(host.sessions.map((s) => s.isClosed)).toEqual([true, true]);
    });

    it("warns of a session that cannot be closed, and keeps the episode", async () => {
      class StuckHost extends FakeHost {
        override async open(options: SessionOptions): Promise<RolloutSession> {
          const session = (await super.open(options)) as FakeSession;
          session.close = () => Promise.reject(new Error("stuck"));
          return session;
        }
      }
      const events: RolloutEvent[] = [];
      const episode = await runOne({ host: new StuckHost(), events, flow: () => "ok" });
      expect(episode).toMatchObject({ output: "ok", attempts: 1 });
      expect(events[0]).toEqual({
        type: "warning",
        message: 'Session "1/a/0#1" was not closed: stuck',
      });
    });
  });

  describe("evaluator", () => {
    it.each<[string, Evaluator, string]>([
      ["returns NaN", () => NaN, 'The evaluator returned NaN for task "a".'],
      [
        "throws",
        () => {
          throw new RangeError("off");
        },
        'The evaluator failed on task "a": RangeError: off',
      ],
      [
        "never answers",
        never,
        'The evaluator failed on task "a": DeadlineError: The evaluator did not finish within 10 ms.',
      ],
    ])("that %s costs its episode, once", async (_, evaluator, message) => {
      const events: RolloutEvent[] = [];
      let runs = 0;
      const episode = await runOne({
        events,
        evaluator,
        limits: { evaluatorTimeoutMs: 10 },
        flow: () => {
          runs++;
          return defineTrajectory({ name: "agent" });
        },
      });
      expect(runs).toBe(1);
      expect(episode).toMatchObject({
        terminationReason: "evaluator_error",
        reward: null,
        isCorrect: null,
        error: { message },
      });
      expect(episode.trajectories.map((t) => t.reward)).toEqual([null]);
      expect(events.map((e) => e.type)).toEqual(["evaluator-error", "rollout-end"]);
      expect(events[0]).toMatchObject({ taskId: "a", episodeId: "1/a/0", error: { message } });
    });
  });

  describe("many", () => {
    it("returns episodes in the order of the requests, within the concurrency limit", async () => {
      const requests = Array.from({ length: 9 }, (_, i) => request(`t:${i}`, i % 3));
      let running = 0;
      let most = 0;
      const episodes = await run({
        requests,
        limits: { concurrency: 3 },
        flow: async (task) => {
          most = Math.max(most, ++running);
          await wait(task.id === "t:0" ? 20 : 1);
          running--;
          if (task.id === "t:4") throw new Error("only this one");
          return task.id;
        },
      });
      expect(most).toBe(3);
      expect(episodes.map((e) => e.id)).toEqual(requests.map((r) => r.episodeId));
      expect(episodes.map((e) => e.output)).toEqual(
        requests.map((r) => (r.task.id === "t:4" ? undefined : r.task.id)),
      );
    });

    it("puts no pile of listeners on the run's signal", async () => {
      const { signal } = new AbortController();
      const add = vi.spyOn(signal, "addEventListener");
      const remove = vi.spyOn(signal, "removeEventListener");
      await run({
        signal,
        requests: Array.from({ length: 30 }, (_, i) => request(`t${i}`)),
        limits: { concurrency: 30 },
        flow: () => wait(1),
      });
      expect(add).toHaveBeenCalledTimes(1);
      expect(remove).toHaveBeenCalledTimes(1);
    });

    it.each(["flow", "evaluator", "pause"])(
      "rejects with the run's reason when it aborts during the %s, sessions closed",
      async (phase) => {
        const host = new FakeHost();
        const controller = new AbortController();
        const reason = new Error("stop the run");
        const stop = (): Promise<never> => {
          setTimeout(() => {
            controller.abort(reason);
          }, 5);
          return never();
        };
        const result = run({
          host,
          signal: controller.signal,
          requests: [request("a"), request("b"), request("c")],
          limits: { concurrency: 2, retryDelayMs: 60_000 },
          flow: () => {
            if (phase === "flow") return stop();
            if (phase === "evaluator") return "x";
            void stop();
            throw new Error("try again");
          },
          evaluator: stop,
        });
        await expect(result).rejects.toBe(reason);
        expect(host.sessions.map((s) => s.isClosed)).toEqual([true, true]);
      },
    );

    it("starts nothing in a run that was aborted before", async () => {
      const host = new FakeHost();
      const result = run({ host, signal: AbortSignal.abort("no"), flow: () => "x" });
      await expect(result).rejects.toBe("no");
      expect(host.sessions).toEqual([]);
    });
  });

  it("refuses an evaluator that cannot be called", () => {
    const parts = { host: new FakeHost(), program: flowProgram(() => 1), limits };
    const evaluator = 1 as unknown as Evaluator;
    expect(() => createRolloutRunner({ ...parts, evaluator })).toThrow(ConfigError);
    expect(() => createRolloutRunner({ ...parts, evaluator })).toThrow(
      "evaluator must be a function",
    );
  });
});
