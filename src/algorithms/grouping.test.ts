import { describe, expect, it } from "vitest";
import { defaultSampling } from "../core/policy.ts";
import type { Episode, Step, TerminationReason, Trajectory } from "../core/trajectory.ts";
import { dropUniform } from "./filters.ts";
import { groupTrajectories } from "./grouping.ts";

function step(overrides: Partial<Step> = {}): Step {
  return {
    traceId: "t",
    messages: [],
    response: { role: "assistant", content: "" },
    promptIds: Int32Array.of(1),
    responseIds: Int32Array.of(2),
    logprobs: Float32Array.of(-0.5),
    stopReason: "stop",
    sampling: { ...defaultSampling, seed: 0, stopTokenIds: [] },
    weightVersion: 0,
    reward: 0,
    done: true,
    ...overrides,
  };
}

function trajectory(name: string, reward: number | null, steps = [step()]): Trajectory {
  return { uid: `${name}/uid`, name, steps, reward, signals: {}, metadata: {} };
}

function episode(
  taskId: string,
  trajectories: readonly Trajectory[],
  terminationReason: TerminationReason = "completed",
): Episode {
  return {
    id: `1/${taskId}/0`,
    task: { id: taskId, instruction: "", metadata: {} },
    rolloutIndex: 0,
    trajectories,
    output: undefined,
    isCorrect: null,
    reward: null,
    terminationReason,
    metrics: {},
    metadata: {},
    attempts: 1,
  };
}

describe("groupTrajectories", () => {
  it("groups by task and role, in order of first appearance", () => {
    const { groups, metrics } = groupTrajectories([
      episode("a", [trajectory("solver", 1), trajectory("judge", 0)]),
      episode("b", [trajectory("solver", 2)]),
      episode("a", [trajectory("judge", 3), trajectory("solver", 4)]),
    ]);
    expect(groups.map((g) => [g.id, g.members.map((m) => m.reward)])).toEqual([
      ["a:solver", [1, 4]],
      ["a:judge", [0, 3]],
      ["b:solver", [2]],
    ]);
    expect(metrics).toMatchObject({
      "groups/count": 3,
      "groups/trajectories_before": 5,
      "groups/trajectories_after": 5,
      "groups/size/mean": 5 / 3,
      "groups/size/max": 2,
      "groups/size/min": 1,
    });
  });

  it("compares within sets, where a task was rolled out twice", () => {
    const first = [episode("a", [trajectory("s", 1)]), episode("a", [trajectory("s", 0)])];
    const again = [episode("a", [trajectory("s", 1)])];
    const { groups } = groupTrajectories([...first, ...again], {
      setOf: (one) => (again.includes(one) ? "2/a" : "1/a"),
    });
    expect(groups.map((g) => [g.id, g.taskId, g.members.length])).toEqual([
      ["a:s", "a", 2],
      ["a:s", "a", 1],
    ]);
  });

  it('keeps apart pairs whose joined text is the same, since ids may contain ":"', () => {
    const { groups } = groupTrajectories([
      episode("a:b", [trajectory("c", 1)]),
      episode("a", [trajectory("b:c", 0)]),
      episode("__proto__", [trajectory("constructor", 0)]),
    ]);
    expect(groups.map((g) => [g.taskId, g.name, g.members.length])).toEqual([
      ["a:b", "c", 1],
      ["a", "b:c", 1],
      ["__proto__", "constructor", 1],
    ]);
    expect(groups[0]?.id).toBe(groups[1]?.id);
  });

  it("leaves out and counts what cannot be compared or trained on", () => {
    const { groups, dropped, metrics } = groupTrajectories([
      episode("a", [trajectory("x", 1)], "error"),
      episode("a", [trajectory("x", 1)], "evaluator_error"),
      episode("a", [trajectory("x", 1)], "aborted"),
      // Ended by a limit of its own, and scored.
      { ...episode("a", [trajectory("x", 1)], "timeout"), reward: 1 },
      episode("a", [
        trajectory("x", null),
        trajectory("x", NaN),
        trajectory("x", 1, []),
        trajectory("x", 1, [step({ responseIds: new Int32Array() })]),
        trajectory("x", 1, [step({ logprobs: Float32Array.of(-1, -1) })]),
        trajectory("x", 1, [step({ logprobs: Float32Array.of(NaN) })]),
        trajectory("x", 1, [step({ promptIds: new Int32Array() })]),
        trajectory("x", 5, [step({ promptIds: new Int32Array() }), step()]),
        { ...trajectory("x", 2), untrained: "the agent said so" },
      ]),
    ]);
    expect(groups.map((g) => g.members.map((m) => m.reward))).toEqual([[1, 5]]);
    expect(dropped).toEqual({
      excluded_episodes: 3,
      no_trainable_steps: 5,
      untrained: 1,
      no_reward: 1,
      invalid_reward: 1,
    });
    expect(metrics["groups/dropped/no_trainable_steps"]).toBe(5);
  });

  it("leaves out the episodes that the caller names", () => {
    const { groups } = groupTrajectories([episode("a", [trajectory("x", 1)], "timeout")], {
      excludedReasons: ["timeout"],
    });
    expect(groups).toEqual([]);
  });

  it("gives finite metrics for no episodes", () => {
    const { metrics } = groupTrajectories([]);
    expect(Object.values(metrics).every((value) => value === 0)).toBe(true);
  });
});

describe("dropUniform", () => {
  it("leaves out groups whose rewards are equal, rounding apart, and counts them", () => {
    const { groups } = groupTrajectories([
      episode("same", [trajectory("x", 0.3), trajectory("x", 0.1 + 0.2)]),
      episode("alone", [trajectory("x", 1)]),
      episode("mixed", [trajectory("x", 1), trajectory("x", 0)]),
    ]);
    const result = dropUniform(groups);
    expect(result.groups.map((g) => g.taskId)).toEqual(["mixed"]);
    expect(result.dropped).toEqual({ groups: 2, trajectories: 3 });
  });
});
