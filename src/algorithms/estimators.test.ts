import { describe, expect, it } from "vitest";
import { ConfigError } from "../core/errors.ts";
import { estimatorNames, findEstimator } from "./catalog.ts";
import {
  type AdvantageEstimator,
  type EstimatorOptions,
  gdpo,
  gpg,
  grpo,
  grpoPassAtK,
  maxrl,
  opo,
  prpo,
  reinforce,
  reinforcePlusPlus,
  reinforcePlusPlusBaseline,
  rloo,
} from "./estimators.ts";

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

/** What is known of each rollout. */
const known = (
  lengths: readonly (readonly number[])[],
  normByStd = true,
  signals: EstimatorOptions["signals"] = [],
  weights: Readonly<Record<string, number>> = {},
): EstimatorOptions => ({
  normByStd,
  lengths,
  signals,
  weights: new Map(Object.entries(weights)),
  outcomes: [],
});

type Case = readonly [
  name: string,
  estimator: AdvantageEstimator,
  normByStd: boolean,
  rewards: readonly (readonly number[])[],
  expected: readonly (readonly number[])[],
  lengths?: readonly (readonly number[])[],
];

const third = 1 / 3;
/** verl's fixture (rewards, lengths of answers in tokens), run through verl itself. */
const fixture = [[1, 0, 0.5], [2, 1], [0]] as const;
const fixtureLengths = [[4, 2, 3], [3, 2], [4]] as const;
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

const fromVerl: readonly Case[] = [
  ["rloo", rloo, true, fixture, [[0.75, -0.75, 0], [1, -1], [0]], fixtureLengths],
  [
    "grpo, not normalised",
    grpo,
    false,
    fixture,
    [[0.5, -0.5, 0], [0.5, -0.5], [0]],
    fixtureLengths,
  ],
  [
    "opo",
    opo,
    true,
    fixture,
    [[0.3888889, -0.6111111, -0.1111111], [0.4, -0.6], [0]],
    fixtureLengths,
  ],
  ["gpg", gpg, true, fixture, [[0.75, -0.75, 0], [0.75, -0.75], [0]], fixtureLengths],
  [
    "reinforce++",
    reinforcePlusPlus,
    true,
    fixture,
    [[0.3509823, -1.0529464, -0.350982], [1.7549107, 0.3509823], [-1.0529464]],
    fixtureLengths,
  ],
  [
    "grpo_passk, not normalised",
    grpoPassAtK,
    false,
    [
      [1, 0, 0.5],
      [2, 1, 0],
    ],
    [
      [0.5, 0, 0],
      [1, 0, 0],
    ],
    [
      [4, 2, 3],
      [3, 2, 4],
    ],
  ],
];

const byHand: readonly Case[] = [
  [
    "prpo",
    prpo,
    true,
    [
      [1, 0],
      [0, 0],
    ],
    [
      [1.732046807578115, -0.5773489358593717],
      [-0.5773489358593717, -0.5773489358593717],
    ],
  ],
  // A success rate of 1/4 counts four times: 1/0.25 - 1 and -1.
  [
    "maxrl",
    maxrl,
    true,
    [
      [1, 0, 0, 0],
      [1, 1, 1, 0],
      [0, 0],
    ],
    [
      [3, -1, -1, -1],
      [third, third, third, -1],
      [0, 0],
    ],
  ],
  ["maxrl, negative rewards", maxrl, true, [[-1, 0.5]], [[0, 0]]],
  // std of [1, 0, 0] is 2^0.5 / 3.
  [
    "grpo_passk",
    grpoPassAtK,
    true,
    [[0, 1, 0], [1, 1], [7]],
    [[0, 2.1213158433, 0], [0, 0], [0]],
    [[1, 1, 1], [1, 1], [1]],
  ],
  ["reinforce++, one token in all", reinforcePlusPlus, true, [[5]], [[0]]],
  ["gpg, nothing but zeros", gpg, true, [[0, 0]], [[0, 0]]],
  ["opo, huge and negative", opo, true, [[1e9, -1e9]], [[1.5e9, -0.5e9]], [[1, 3]]],
];

describe("advantage estimators", () => {
  for (const [name, estimator, normByStd, rewards, expected, given] of [
    ...cases,
    ...fromVerl,
    ...byHand,
  ]) {
    it(`${name} gives the worked numbers of ${JSON.stringify(rewards)}`, () => {
      const lengths = given ?? rewards.map((group) => group.map(() => 1));
      const advantages = estimator(rewards, known(lengths, normByStd));
      // Published numbers are rounded.
      expect(distance(advantages, expected)).toBeLessThan(given ? 1e-6 : 1e-12);
    });
  }

  it.each([
    ["grpo", grpo],
    ["rloo", rloo],
    ["reinforce++ baseline", reinforcePlusPlusBaseline],
    ["opo", opo],
    ["gpg", gpg],
    ["maxrl", maxrl],
    ["grpo_passk", grpoPassAtK],
    ["gdpo", gdpo],
  ])("%s gives exactly 0 to equal rewards and to a group of one", (_, estimator) => {
    // 0.1 * 3 / 3 is not 0.1 in floating point.
    const [equal, alone] = estimator([[0.1, 0.1, 0.1], [0.5]], known([[3, 1, 2], [5]]));
    expect([...(equal ?? []), ...(alone ?? [])].map(Math.abs)).toEqual([0, 0, 0, 0]);
  });

  const groups = [[-3, 0.5, 2, -1], [4, 4.25], [7]];
  const lengths = [[3, 1, 2, 8], [5, 1], [2]];

  it.each(estimatorNames.filter((name) => !["reinforce", "gpg", "maxrl"].includes(name)))(
    "%s compares: the same amount more for everyone changes nothing",
    (name) => {
      const estimate = findEstimator(name);
      const options = known(lengths);
      const shifted = groups.map((rewards) => rewards.map((reward) => reward - 100));
      const expected = estimate(groups, options).map((values) => [...values]);
      expect(distance(estimate(shifted, options), expected)).toBeLessThan(1e-9);
    },
  );

  it.each(["reinforce", "rloo", "opo", "prpo", "reinforce_plus_plus", "grpo"])(
    "%s turns with the sign of the rewards",
    (name) => {
      const estimate = findEstimator(name);
      const options = known(lengths);
      const turned = groups.map((rewards) => rewards.map((reward) => -reward));
      const expected = estimate(groups, options).map((values) =>
        [...values].map((value) => -value),
      );
      expect(distance(estimate(turned, options), expected)).toBeLessThan(1e-12);
    },
  );

  it.each(estimatorNames)("%s stays finite for huge and for tiny rewards", (name) => {
    for (const scale of [1e12, 1e-12]) {
      const scaled = groups.map((rewards) => rewards.map((reward) => reward * scale));
      const values = findEstimator(name)(scaled, known(lengths));
      expect(values.flatMap((group) => [...group]).every(Number.isFinite)).toBe(true);
    }
  });

  it("gives empty answers a place, though they have no token to train", () => {
    // opo by hand: baseline (1 * 0 + 3 * 1) / 4.
    const [values] = opo([[0, 1]], known([[1, 3]]));
    expect([...(values ?? [])]).toEqual([-0.75, 0.25]);
  });

  it("returns nothing for nothing", () => {
    for (const name of estimatorNames) {
      expect(findEstimator(name)([], known([]))).toEqual([]);
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
