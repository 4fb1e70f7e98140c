import { describe, expect, it } from "vitest";
import { ConfigError } from "../core/errors.ts";
import type { GroupMember, TrajectoryGroup } from "../core/trajectory.ts";
import { computeAdvantages } from "./advantages.ts";

/** What estimators read of a member; the rest can stay away. */
function group(name: string, rewards: readonly number[]): TrajectoryGroup {
  const step = { trace: { responseIds: Int32Array.of(1, 2, 3) } };
  const signals = { short: 1 };
  const trajectory = { steps: [step, step], signals } as unknown as GroupMember["trajectory"];
  const episode = { isCorrect: true, terminationReason: "completed" } as GroupMember["episode"];
  const members = rewards.map((reward): GroupMember => ({ reward, trajectory, episode }));
  return { id: `t:${name}`, taskId: "t", name, members };
}

describe("computeAdvantages", () => {
  it("hands each role's groups to the estimator together and keeps their places", () => {
    const calls: unknown[] = [];
    const { advantages } = computeAdvantages(
      [group("solver", [1, 0]), group("judge", [5]), group("solver", [2])],
      {
        normByStd: false,
        estimator: (groups, options) => {
          calls.push([groups, options]);
          return groups.map((rewards) => Float64Array.from(rewards, (r) => r * 10));
        },
      },
    );
    const signals = { short: 1 };
    const outcome = { isCorrect: true, terminationReason: "completed", isTruncated: false };
    const shared = { normByStd: false, weights: new Map() };
    expect(calls).toEqual([
      [
        [[1, 0], [2]],
        {
          ...shared,
          lengths: [[6, 6], [6]],
          signals: [[signals, signals], [signals]],
          outcomes: [[outcome, outcome], [outcome]],
        },
      ],
      [[[5]], { ...shared, lengths: [[6]], signals: [[signals]], outcomes: [[outcome]] }],
    ]);
    expect(advantages).toEqual([Float64Array.of(10, 0), Float64Array.of(50), Float64Array.of(20)]);
  });

  it("asks another estimator where a role has one", () => {
    const { advantages } = computeAdvantages([group("solver", [1, 0]), group("judge", [1, 1])], {
      estimator: "grpo",
      normByStd: true,
      byRole: new Map([["judge", "reinforce"]]),
    });
    expect(advantages[0]?.[0]).toBeCloseTo(0.999998, 6);
    expect(advantages[1]).toEqual(Float64Array.of(1, 1));
  });

  it("reports rewards, advantages and groups of one by role", () => {
    const { metrics } = computeAdvantages(
      [group("solver", [1, 0]), group("solver", [0.5]), group("judge", [1, 1])],
      { estimator: "grpo", normByStd: true },
    );
    expect(metrics).toMatchObject({
      "reward/solver/mean": 0.5,
      "reward/solver/max": 1,
      "reward/solver/min": 0,
      "reward/judge/std": 0,
      "advantage/solver/mean": 0,
      "advantage/solver/zero_fraction": 1 / 3,
      "advantage/judge/zero_fraction": 1,
      "groups/solver/singletons": 1,
      "groups/solver/comparable": 1,
    });
    expect(metrics["reward/solver/std"]).toBeCloseTo(Math.sqrt(1 / 6), 12);
    expect(metrics["advantage/solver/max"]).toBeCloseTo(0.999998000004, 12);
    expect(Object.values(metrics).every(Number.isFinite)).toBe(true);
  });

  it("reports how hard the tasks were", () => {
    const { metrics } = computeAdvantages(
      [[1, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0], [0.5, 0.5, 0.5, 0.5], [1]].map((rewards) =>
        group("x", rewards),
      ),
      { estimator: "grpo", normByStd: true },
    );
    const golden = {
      comparable: 4,
      informative: 1,
      informative_fraction: 0.25,
      too_easy_fraction: 0.25,
      too_hard_fraction: 0.25,
      "reward_mean/p10": 0.075,
      "reward_mean/p50": 0.375,
      "reward_mean/p90": 0.85,
      "reward_std/p10": 0,
      "reward_std/p50": 0,
      "reward_std/p90": 0.3031088913245536,
      singletons: 1,
    };
    const difficulty = Object.entries(metrics).filter(([key]) => key.startsWith("groups/x/"));
    expect(Object.fromEntries(difficulty)).toEqual(
      Object.fromEntries(
        Object.entries(golden).map(([key, value]) => [
          `groups/x/${key}`,
          expect.closeTo(value, 12) as number,
        ]),
      ),
    );
  });

  it("refuses an estimator that answers in another shape", () => {
    const run = () =>
      computeAdvantages([group("x", [1, 2])], {
        normByStd: true,
        estimator: () => [Float64Array.of(1)],
      });
    expect(run).toThrow(ConfigError);
    expect(run).toThrow(/sizes \[1\] for role "x".*sizes \[2\]/u);
  });

  it("returns nothing for no groups", () => {
    expect(computeAdvantages([], { estimator: "rloo", normByStd: true })).toEqual({
      advantages: [],
      metrics: {},
    });
  });
});
