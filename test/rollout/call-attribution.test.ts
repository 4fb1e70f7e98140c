import { describe, expect, it } from "vitest";
import { defineEpisode, defineTrajectory } from "../../src/core/report.ts";
import { TerminationEvent } from "../../src/core/termination.ts";
import type { Episode } from "../../src/core/trajectory.ts";
import { runFunctionProgram } from "../../src/rollouts/programs/function-programs.ts";
import { request, questions, runThroughGateway } from "./gateway-run.ts";

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const rewards = ({ trajectories }: Episode): [string, number | null, (number | undefined)[]][] =>
  trajectories.map(({ name, reward, steps }) => [name, reward, steps.map((step) => step.reward)]);

describe("calls that the flow names by their response ids", () => {
  it("W33: give each parallel solver its own call, whatever the order of completion", async () => {
    const { episode } = await runThroughGateway({
      script: async ({ text }) => {
        await wait(text.includes("slow") ? 30 : 1);
        return text.includes("slow") ? "S" : "F";
      },
      flow: async (_task, config) => {
        const responses = await Promise.all(["slow", "fast"].map((q) => request(config, q)));
        return responses.map(({ id, content }) =>
          defineTrajectory({
            name: "solver",
            reward: content === "S" ? 1 : 0,
            steps: [{ responseId: id, action: content }],
          }),
        );
      },
    });
    const told = episode.trajectories.map(({ name, reward, steps }) => [
      ...[name, reward, steps.length],
      ...[steps[0]?.trace.messages[0]?.content, steps[0]?.action, steps[0]?.trace.response.content],
    ]);
    expect(told).toEqual([
      ["solver", 1, 1, "slow", "S", "S"],
      ["solver", 0, 1, "fast", "F", "F"],
    ]);
    expect(new Set(episode.trajectories.map(({ uid }) => uid)).size).toBe(2);
  });

  it("W34: may be reported once for each of their tool calls", async () => {
    const { episode } = await runThroughGateway({
      flow: async (_task, config) => {
        const { id } = await request(config, "two tools");
        const steps = [
          { responseId: id, reward: 0.25, action: "first tool", done: false },
          { responseId: id, reward: 0.5, action: "second tool" },
        ];
        return defineTrajectory({ name: "agent", reward: 1, steps });
      },
    });
    expect(rewards(episode)).toEqual([["agent", 1, [0.75]]]);
    expect(episode.trajectories[0]?.steps[0]).toMatchObject({ action: "second tool", done: false });
  });

  it("W35: leave a trajectory without calls as it is, before one that has some", async () => {
    const { episode } = await runThroughGateway({
      flow: async (_task, config) => {
        const { id } = await request(config, "q");
        return [
          defineTrajectory({ name: "idle", reward: 0 }),
          defineTrajectory({ name: "busy", reward: 1, steps: [{ responseId: id }] }),
        ];
      },
    });
    expect(rewards(episode)).toEqual([
      ["busy", 1, [undefined]],
      ["idle", 0, []],
    ]);
  });

  it("W36: keep calls that no report speaks of, and all that a report says", async () => {
    const said = { output: { plan: 1 }, signals: { s: 0.5 }, metadata: { m: 2 } };
    const { episode } = await runThroughGateway({
      evaluator: () => ({ reward: 9, isCorrect: true, signals: [{ name: "t", value: 3 }] }),
      flow: async (_task, config) => {
        const { id } = await request(config, "named");
        await request(config, "not named");
        const steps = [{ responseId: id, reward: 1 }];
        return defineEpisode({
          trajectories: [defineTrajectory({ name: "planner", reward: 2, steps, ...said })],
          output: "done",
          terminationReason: "max_turns_exceeded",
          metrics: { pages: 4 },
          metadata: { browser: "b" },
        });
      },
    });
    expect(questions(episode)).toEqual({ planner: ["named"], agent: ["not named"] });
    expect(rewards(episode)).toEqual([
      ["planner", 2, [1]],
      ["agent", 9, [undefined]],
    ]);
    expect(episode.trajectories[0]).toMatchObject({
      output: said.output,
      metadata: said.metadata,
      signals: { s: 0.5, t: 3 },
    });
    expect(episode).toMatchObject({
      output: "done",
      terminationReason: "max_turns_exceeded",
      metrics: { pages: 4, "signal/t": 3 },
      metadata: { browser: "b" },
    });
  });

  it.each([
    ["that was never made", "no-such-response", "which no call of this rollout returned"],
    ["of another report", null, "as another report does"],
  ])("are refused when a report names one %s", async (_, other, message) => {
    const { episode } = await runThroughGateway({
      flow: async (_task, config) => {
        const { id } = await request(config, "q");
        return [id, other ?? id].map((responseId, i) =>
          defineTrajectory({ name: `n${i}`, steps: [{ responseId }] }),
        );
      },
    });
    expect(episode.terminationReason).toBe("error");
    expect(episode.error?.message).toContain(message);
  });

  it("are refused when a report names calls of several handles", async () => {
    const { episode } = await runThroughGateway({
      flow: async (_task, config) => {
        const ends = [config, config.trajectory("judge")];
        const calls = await Promise.all(ends.map((end) => request(end, "q")));
        const steps = calls.map(({ id }) => ({ responseId: id }));
        return defineTrajectory({ name: "both", steps });
      },
    });
    expect(episode.error?.message).toContain("names calls of several trajectories");
  });
});

describe("roles", () => {
  it("come from handles: several trajectories of one role, and some that are not trained", async () => {
    const { episode } = await runThroughGateway({
      untrainedRoles: ["judge"],
      flow: async (_task, config) => {
        for (const i of [1, 2]) {
          await request(config.trajectory(`solver ${i}`, { role: "solver" }), `solve ${i}`);
        }
        await request(config.trajectory("title", { train: false }), "title");
        await request(config.trajectory("title"), "another title");
        await request(config.trajectory("judge"), "judge");
        // The run has the last word.
        return defineTrajectory({ name: "judge", train: true });
      },
    });
    const told = episode.trajectories.map(({ name, untrained, steps }) => [
      ...[name, steps.length, untrained],
    ]);
    expect(told).toEqual([
      ["solver", 1, undefined],
      ["solver", 1, undefined],
      ["title", 2, "the agent said so"],
      ["judge", 1, 'rollout.untrained_roles has "judge"'],
    ]);
  });

  it("W42: may contain colons, as may task ids", async () => {
    const { episodes } = await runThroughGateway({
      tasks: ["a:b", "a", "0"],
      flow: async (_task, config) => {
        await request(config.trajectory("solver:1"), "q");
      },
    });
    expect(episodes.map(({ task, trajectories }) => [task.id, trajectories[0]?.name])).toEqual([
      ["a:b", "solver:1"],
      ["a", "solver:1"],
      ["0", "solver:1"],
    ]);
    expect(episodes.map((episode) => episode.trajectories.length)).toEqual([1, 1, 1]);
  });
});

describe("known traps", () => {
  it("W37: a call that the server refuses costs neither the rollout nor a step", async () => {
    const { episode } = await runThroughGateway({
      flow: async (_task, config) => {
        await fetch(`${config.baseUrl}/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${config.apiKey}` },
          body: "no JSON",
        });
        return (await request(config, "q")).content;
      },
    });
    expect(episode).toMatchObject({ output: "ok", terminationReason: "completed" });
    expect(questions(episode)).toEqual({ agent: ["q"] });
  });

  it("W37, W62: a call that its client gave up costs itself, not its trajectory", async () => {
    const given = new AbortController();
    const { episode } = await runThroughGateway({
      script: async ({ text }) => {
        if (text.includes("given up")) {
          given.abort();
          await wait(20);
        }
        return "ok";
      },
      flow: async (_task, config) => {
        await request(config, "before");
        await request({ ...config, signal: given.signal }, "given up").catch(() => {});
        return (await request(config, "after")).content;
      },
    });
    expect(episode).toMatchObject({ terminationReason: "completed", output: "ok" });
    expect(questions(episode)).toEqual({ agent: ["before", "after"] });
  });

  it("W38: a flow without a call leaves one empty trajectory to be counted, and no tokens", async () => {
    const { episode } = await runThroughGateway({ flow: () => "guessed" });
    expect(rewards(episode)).toEqual([["agent", 1, []]]);
    expect(episode.metrics).toMatchObject({ turns: 0, "tokens/response": 0 });
  });

  it("W39: a flow ends with the reason that it gives, and keeps its calls", async () => {
    const { episode, events } = await runThroughGateway({
      limits: { retries: 2 },
      flow: async (_task, config) => {
        await request(config, "q");
        throw new TerminationEvent("max_turns_exceeded");
      },
    });
    expect(episode).toMatchObject({
      terminationReason: "max_turns_exceeded",
      attempts: 1,
      reward: 1,
    });
    expect(questions(episode)).toEqual({ agent: ["q"] });
    expect(events.map(({ type }) => type)).toEqual(["rollout-end"]);
  });

  it("W15, W39: a prompt that is too long is a reason, and is not tried again", async () => {
    const { episode } = await runThroughGateway({
      contextLength: 60,
      limits: { retries: 2 },
      flow: async (_task, config) => {
        await request(config, "short");
        await request(config, "long".repeat(40));
      },
    });
    expect(episode).toMatchObject({
      terminationReason: "max_prompt_length_exceeded",
      attempts: 1,
    });
    expect(questions(episode)).toEqual({ agent: ["short"] });
  });

  it("W40: as many flows run at once as the limit allows", async () => {
    let running = 0;
    let most = 0;
    await runThroughGateway({
      tasks: Array.from({ length: 120 }, (_, i) => `t${i}`),
      limits: { concurrency: 100 },
      flow: async () => {
        most = Math.max(most, ++running);
        await wait(20);
        running--;
      },
    });
    expect(most).toBe(100);
  });

  it("W41: the smaller of the run's and the agent's limits of tokens counts, in each way of asking", async () => {
    const { episode } = await runThroughGateway({
      maxTokens: 3,
      script: () => "abcdefgh",
      flow: async (_task, config) => {
        for (const limit of [
          { max_tokens: 7 },
          { max_completion_tokens: 7 },
          {},
          { max_tokens: 2 },
        ]) {
          await fetch(`${config.baseUrl}/chat/completions`, {
            method: "POST",
            headers: {
              "content-type": "application/json",
              authorization: `Bearer ${config.apiKey}`,
            },
            body: JSON.stringify({
              ...limit,
              model: "m",
              messages: [{ role: "user", content: "q" }],
            }),
          });
        }
      },
    });
    expect(episode.trajectories[0]?.steps.map(({ trace }) => trace.responseIds.length)).toEqual([
      3, 3, 3, 2,
    ]);
  });

  it("W43: a reward from 1 on is correct, up to 0 incorrect, between undecided, whichever part gives it", async () => {
    const right = new Map([
      [2, true],
      [1, true],
      [0, false],
      [-1, false],
    ]);
    for (const reward of [2, 1, 0.9, 0.1, 0, -1]) {
      const evaluated = await runThroughGateway({ flow: () => "x", evaluator: () => reward });
      const program = runFunctionProgram(() => reward);
      const ran = await runThroughGateway({ program, evaluator: null });
      const report = runFunctionProgram(() => defineTrajectory({ name: "agent", reward }));
      const reported = await runThroughGateway({ program: report, evaluator: null });
      for (const { episode } of [evaluated, ran, reported]) {
        expect([episode.reward, episode.isCorrect]).toEqual([reward, right.get(reward) ?? null]);
      }
    }
  });

  it("W44: only finite numbers become metrics; what an evaluator notes stays a note", async () => {
    const { episode } = await runThroughGateway({
      flow: () => "x",
      evaluator: () => ({ reward: 1, isCorrect: true, metadata: { log: "long text", n: 5 } }),
    });
    expect(episode.metadata).toEqual({ log: "long text", n: 5 });
    expect(Object.values(episode.metrics).every((value) => Number.isFinite(value))).toBe(true);
    expect(episode.metrics).not.toHaveProperty("n");
  });
});

describe("agentRunFunc", () => {
  it("scores calls with what it returns, and leaves those that it does not speak of unscored", async () => {
    const program = runFunctionProgram(async (_task, config) => {
      const { id } = await request(config, "solve");
      await request(config, "chat");
      const steps = [{ responseId: id }];
      return [defineTrajectory({ name: "solver", reward: 0.5, steps })];
    });
    const { episode } = await runThroughGateway({ program, evaluator: null });
    expect(rewards(episode)).toEqual([
      ["solver", 0.5, [undefined]],
      ["agent", null, [undefined]],
    ]);
    expect([episode.reward, episode.isCorrect]).toEqual([0.5, null]);
  });

  it.each<[unknown, string]>([
    ["a text", 'agentRunFunc returned "a text" for task "a".'],
    [undefined, 'agentRunFunc returned undefined for task "a".'],
    [NaN, 'agentRunFunc returned NaN for task "a".'],
    [
      defineTrajectory({ name: "solver" }),
      'agentRunFunc returned the trajectory "solver" without a reward.',
    ],
  ])("may not return %j", async (value, message) => {
    const program = runFunctionProgram(() => value as number);
    const { episode } = await runThroughGateway({ program, evaluator: null });
    expect(episode).toMatchObject({ terminationReason: "error", error: { message } });
  });
});
