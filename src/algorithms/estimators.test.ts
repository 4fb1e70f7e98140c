import { describe, expect, it } from "vitest";
import { ConfigError } from "../core/errors.ts";
import { estimatorNames, findEstimator } from "./catalog.ts";
import type { AdvantageEstimator } from "./estimator.ts";
import { grpo } from "./grpo.ts";
import { reinforcePlusPlusBaseline } from "./reinforce-plus-plus-baseline.ts";
import { reinforce } from "./reinforce.ts";
import { rloo } from "./rloo.ts";

/** Largest absolute difference; NaN when a value or the shape is wrong, so that it fails any bound. */
function distance(
  actual: readonly Float64Array[],
  expected: readonly (readonly number[])[],
): number {
  if (actual.map((g) => g.length).join() !== expected.map((g) => g.length).join()) return NaN;
  const flat = actual.flatMap((group) => [...group]);
  const wanted = expected.flat();
  return flat.reduce((worst, value, i) => Math.max(worst, Math.abs(value - (wanted[i] ?? NaN))), 0);
}

type Case = readonly [
  name: string,
  estimator: AdvantageEstimator,
  normByStd: boolean,
  rewards: readonly (readonly number[])[],
  expected: readonly (readonly number[])[],
];

const third = 1 / 3;
const plus = 1.0801211164063507;
const cases: readonly Case[] = [
  [
    "grpo",
    grpo,
    true,
    [[1, 0, 0, 0]],
    [[1.732046807578115, -0.5773489358593717, -0.5773489358593717, -0.5773489358593717]],
  ],
  ["grpo, not normalised", grpo, false, [[1, 0, 0, 0]], [[0.75, -0.25, -0.25, -0.25]]],
  ["grpo", grpo, true, [[1, 0]], [[0.999998000004, -0.999998000004]]],
  [
    "grpo",
    grpo,
    true,
    [[0.2, 0.4, 0.9]],
    [[-1.0190458692034328, -0.33968195640114424, 1.3587278256045772]],
  ],
  ["grpo, not normalised", grpo, false, [[0.2, 0.4, 0.9]], [[-0.3, -0.1, 0.4]]],
  [
    "grpo, two groups apart",
    grpo,
    true,
    [
      [0.1, 0.7, 0.3, 0.9],
      [1, 0],
    ],
    [
      // (r - 0.5) / (0.1^0.5 + 1e-6)
      [-1.2649070640800009, 0.6324535320400004, -0.6324535320400004, 1.2649070640800009],
      [0.999998000004, -0.999998000004],
    ],
  ],
  ["reinforce", reinforce, true, [[1, 0], [0.5]], [[1, 0], [0.5]]],
  ["rloo", rloo, true, [[1, 0, 0, 0]], [[1, -third, -third, -third]]],
  ["rloo", rloo, true, [[0.2, 0.4, 0.9]], [[-0.45, -0.15, 0.6]]],
  ["rloo", rloo, true, [[1, 0]], [[1, -1]]],
  [
    "reinforce++ baseline",
    reinforcePlusPlusBaseline,
    true,
    [[1, 0], [1, 1, 0, 0], [0.5]],
    [[plus, -plus], [plus, plus, -plus, -plus], [0]],
  ],
  [
    "reinforce++ baseline",
    reinforcePlusPlusBaseline,
    true,
    [
      [1, 0],
      [0, 0],
    ],
    [
      [1.4142095623844086, -1.4142095623844086],
      [0, 0],
    ],
  ],
];

describe("advantage estimators", () => {
  it.each(cases)("%s gives the worked numbers", (_, estimator, normByStd, rewards, expected) => {
    expect(distance(estimator(rewards, { normByStd }), expected)).toBeLessThan(1e-12);
  });

  it.each([
    ["grpo", grpo],
    ["rloo", rloo],
    ["reinforce++ baseline", reinforcePlusPlusBaseline],
  ])("%s gives exactly 0 to equal rewards and to a group of one", (_, estimator) => {
    // 0.1 * 3 / 3 is not 0.1 in floating point.
    const [equal, alone] = estimator([[0.1, 0.1, 0.1], [0.5]], { normByStd: true });
    expect([...(equal ?? []), ...(alone ?? [])].map(Math.abs)).toEqual([0, 0, 0, 0]);
  });

  it("returns nothing for nothing", () => {
    for (const name of estimatorNames) {
      expect(findEstimator(name)([], { normByStd: true })).toEqual([]);
    }
  });

  it("refuses an unknown name with the nearest one", () => {
    expect(() => findEstimator("grp")).toThrow(ConfigError);
    expect(() => findEstimator("grp")).toThrow(
      expect.objectContaining({ hint: 'Did you mean "grpo"?' }),
    );
    expect(() => findEstimator("constructor")).toThrow(ConfigError);
  });
});
