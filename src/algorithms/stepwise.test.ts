import { describe, expect, it } from "vitest";
import type { GroupMember, TrajectoryGroup } from "../core/trajectory.ts";
import { computeStepwiseAdvantages, stepReturns } from "./stepwise.ts";

type Trajectory = GroupMember["trajectory"];

function trajectory(rewards: readonly (number | null)[]): Trajectory {
  const steps = rewards.map((reward) => ({
    ...(reward === null ? {} : { reward }),
    trace: { responseIds: Int32Array.of(1, 2) },
  }));
  return { steps } as unknown as Trajectory;
}

const episode = { isCorrect: null, terminationReason: "completed" } as GroupMember["episode"];

function group(
  name: string,
  ...members: readonly [reward: number, ...steps: (number | null)[]][]
): TrajectoryGroup {
  return {
    id: `t:${name}`,
    taskId: "t",
    name,
    members: members.map(([reward, ...steps]): GroupMember => ({
      reward,
      trajectory: trajectory(steps),
      episode,
    })),
  };
}

describe("returns of steps", () => {
  it.each([
    ["add up what comes later", [1, 0, 2], 9, 1, [3, 2, 2]],
    ["discount it", [1, 0, 2], 9, 0.5, [1.5, 1, 2]],
    ["are the rewards themselves with gamma 0", [1, 0, 2], 9, 0, [1, 0, 2]],
    ["take the trajectory's reward where no step has one", [null, null, null], 8, 0.5, [2, 4, 8]],
    [
      "are 0 where every step was given 0, whatever the trajectory's is",
      [0, 0, 0],
      8,
      0.5,
      [0, 0, 0],
    ],
    ["count steps without one as 0 where another has one", [null, 2, null], 8, 1, [2, 2, 0]],
    ["are none without steps", [], 1, 1, []],
  ] as const)("%s", (_, rewards, reward, gamma, expected) => {
    expect([...stepReturns(trajectory(rewards), reward, gamma)]).toEqual(expected);
  });
});

describe("what options add to steps' rewards", () => {
  it.each([
    ["to rewards of steps", [1, 0, 2], 9, 1, [2.5, 1.5, 2]],
    ["discounted as they are", [1, 0, 2], 9, 0.5, [1.25, 0.5, 2]],
    [
      "to the trajectory's reward as that of the last step",
      [null, null, null],
      8,
      1,
      [7.5, 7.5, 8],
    ],
    ["to rewards that are all 0", [0, 0, 0], 8, 1, [-0.5, -0.5, 0]],
  ] as const)("is added %s", (_, rewards, reward, gamma, expected) => {
    const shaping = Float64Array.of(0, -0.5, 0);
    expect([...stepReturns(trajectory(rewards), reward, gamma, shaping)]).toEqual(expected);
  });
});

describe("stepwise advantages", () => {
  it("compare step k with step k of the group", () => {
    const { advantages } = computeStepwiseAdvantages(
      [group("a", [0, 1, 0], [0, 0, 1]), group("a", [0, 5, 5])],
      { estimator: "grpo", normByStd: false, gamma: 0 },
    );
    expect(advantages).toEqual([
      [Float64Array.of(0.5, -0.5), Float64Array.of(-0.5, 0.5)],
      [Float64Array.of(0, 0)],
    ]);
  });

  it("leave the last steps of a longer trajectory without anything to compare", () => {
    const { advantages } = computeStepwiseAdvantages([group("a", [0, 1, 7], [0, 3])], {
      estimator: "grpo",
      normByStd: false,
      gamma: 0,
    });
    expect(advantages).toEqual([[Float64Array.of(-1, 0), Float64Array.of(1)]]);
  });

  it("are those of trajectories where all have as many steps and one reward at the end", () => {
    const { advantages } = computeStepwiseAdvantages(
      [group("a", [1, null, null], [0, null, null])],
      {
        estimator: "rloo",
        normByStd: true,
        gamma: 1,
      },
    );
    expect(advantages).toEqual([[Float64Array.of(1, 1), Float64Array.of(-1, -1)]]);
  });

  it("give an estimator all returns of a role at once, with the lengths of answers", () => {
    const calls: unknown[] = [];
    computeStepwiseAdvantages([group("a", [0, 1, 2]), group("b", [0, 3]), group("a", [0, 4])], {
      estimator: (groups, { lengths }) => {
        calls.push([groups, lengths]);
        return groups.map((rewards) => new Float64Array(rewards.length));
      },
      normByStd: true,
      gamma: 0,
    });
    expect(calls).toEqual([
      [
        [[1], [2], [4]],
        [[2], [2], [2]],
      ],
      [[[3]], [[2]]],
    ]);
  });
});
