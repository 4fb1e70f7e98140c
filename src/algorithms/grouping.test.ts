import { describe, expect, it } from "vitest";
import { makeStep } from "../../test/make-step.ts";
import type { Episode, TerminationReason, Trajectory } from "../core/trajectory.ts";
import { dropUniform, groupTrajectories, type ComparedRollouts } from "./grouping.ts";

function trajectory(name: string, reward: number | null, steps = [makeStep()]): Trajectory {
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

const rollouts = (...episodes: readonly Episode[]): ComparedRollouts => ({ episodes });

describe("groupTrajectories", () => {
  it("groups by task and role, in order of first appearance", () => {
    const { groups, metrics } = groupTrajectories([
      rollouts(
        episode("a", [trajectory("solver", 1), trajectory("judge", 0)]),
        episode("a", [trajectory("judge", 3), trajectory("solver", 4)]),
      ),
      rollouts(episode("b", [trajectory("solver", 2)])),
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

  it("keeps batches apart, where a task was rolled out twice", () => {
    const { groups } = groupTrajectories([
      rollouts(episode("a", [trajectory("s", 1)]), episode("a", [trajectory("s", 0)])),
      rollouts(episode("a", [trajectory("s", 1)])),
    ]);
    expect(groups.map((g) => [g.id, g.taskId, g.members.length])).toEqual([
      ["a:s", "a", 2],
      ["a:s", "a", 1],
    ]);
  });

  it('keeps apart pairs whose joined text is the same, since ids may contain ":"', () => {
    const { groups } = groupTrajectories([
      rollouts(episode("a:b", [trajectory("c", 1)])),
      rollouts(episode("a", [trajectory("b:c", 0)])),
      rollouts(episode("__proto__", [trajectory("constructor", 0)])),
    ]);
    expect(groups.map((g) => [g.taskId, g.name, g.members.length])).toEqual([
      ["a:b", "c", 1],
      ["a", "b:c", 1],
      ["__proto__", "constructor", 1],
    ]);
    expect(groups[0]?.id).toBe(groups[1]?.id);
  });

  it("leaves out and counts what cannot be compared or trained on", () => {
    const episodes = [
      episode("a", [trajectory("x", 1)], "error"),
      episode("a", [trajectory("x", 1)], "evaluator_error"),
      episode("a", [trajectory("x", 1)], "aborted"),
      // Ended by a limit of its own, and scored.
      { ...episode("a", [trajectory("x", 1)], "timeout"), reward: 1 },
      episode("a", [
        trajectory("x", null),
        trajectory("x", NaN),
        trajectory("x", 1, []),
        trajectory("x", 1, [makeStep({ responseIds: new Int32Array() })]),
        trajectory("x", 1, [makeStep({ logprobs: Float32Array.of(-1, -1) })]),
        trajectory("x", 1, [makeStep({ logprobs: Float32Array.of(NaN) })]),
        trajectory("x", 1, [makeStep({ promptIds: new Int32Array() })]),
        trajectory("x", 5, [makeStep({ promptIds: new Int32Array() }), makeStep()]),
        { ...trajectory("x", 2), untrained: "the agent said so" },
      ]),
    ];
    const { groups, dropped, metrics } = groupTrajectories([{ episodes }]);
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
    const tasks = [rollouts(episode("a", [trajectory("x", 1)], "timeout"))];
    const { groups } = groupTrajectories(tasks, { excludedReasons: ["timeout"] });
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
      rollouts(episode("same", [trajectory("x", 0.3), trajectory("x", 0.1 + 0.2)])),
      rollouts(episode("alone", [trajectory("x", 1)])),
      rollouts(episode("mixed", [trajectory("x", 1), trajectory("x", 0)])),
    ]);
    const result = dropUniform(groups);
    expect(result.groups.map((g) => g.taskId)).toEqual(["mixed"]);
    expect(result.dropped).toEqual({ groups: 2, trajectories: 3 });
  });
});
