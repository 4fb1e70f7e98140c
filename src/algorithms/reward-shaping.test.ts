import { describe, expect, it } from "vitest";
import type { TrainingRow } from "../core/loss/training-row.ts";
import { penaltyOfKl } from "../core/loss/kl.ts";
import { klPenalty, overlongPenalty } from "./reward-shaping.ts";

// verl's fixture: policy, reference, mask, and its means over trained tokens.
const policy = [
  [-0.9, -2.4, -0.2, -1.5],
  [-0.7, -0.9, -0.9, -1],
  [-2.6, -0.6, -0.45, -0.3],
];
const reference = [
  [-1, -2, -0.5, -1.5],
  [-0.7, -0.3, -2.2, -1.1],
  [-1.2, -0.9, -0.4, -0.1],
];
const masks = [
  [1, 1, 1, 1],
  [1, 0, 1, 1],
  [1, 1, 1, 0],
];
/** With a prompt token in front. */
const padded = (values: number[][]): Float32Array[] =>
  values.map((row) => Float32Array.of(0, ...row));
const rows = masks.map(
  (mask) => ({ targetMask: Uint8Array.of(0, ...mask) }) as unknown as TrainingRow,
);

const sumOf = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0);

describe("KL in the reward", () => {
  it.each([
    ["k1", 0.025],
    ["k2", 0.200625],
    ["k3", 0.241214],
  ] as const)("by %s is verl's", (estimator, expected) => {
    const { estimates } = klPenalty(rows, padded(policy), padded(reference), estimator);
    const sums = estimates.map(sumOf);
    const total = sums.reduce((sum, value) => sum + value, 0);
    expect(total / 10).toBeCloseTo(expected, 5.6);
  });

  it("is summed over a row's trained tokens, and reported as the mean of their means", () => {
    const { estimates, mean } = klPenalty(rows, padded(policy), padded(reference), "k1");
    const sums = estimates.map(sumOf);
    const expected = [0.1 - 0.4 + 0.3, 1.3 + 0.1, -1.4 + 0.3 - 0.05];
    for (const [r, value] of expected.entries()) expect(sums[r]).toBeCloseTo(value, 6);
    expect(mean).toBeCloseTo((0 + 1.4 / 3 - 1.15 / 3) / 3, 6);
  });

  it("is 0 where nothing differs, and bounded where everything does", () => {
    for (const estimator of ["k1", "k2", "k3"] as const)
      expect(penaltyOfKl(estimator, 0).value).toBeCloseTo(0, 12);
    expect(penaltyOfKl("k3", -100)).toEqual({ value: 10, gradient: 0 });
    expect(klPenalty([], [], [], "k1")).toEqual({ estimates: [], mean: 0 });
  });
});

// The paper's own setting: 16384 tokens are free, 4096 more are penalized.
const paper = { maxLength: 20_480, margin: 4096, factor: 1 };

it.each([
  [0, 0],
  [16_384, 0],
  [17_408, -0.25],
  [18_432, -0.5],
  [20_480, -1],
  [30_000, -1],
])("the overlong penalty of %i tokens is %d", (length, expected) => {
  expect(overlongPenalty(length, paper)).toBeCloseTo(expected, 12);
  expect(overlongPenalty(length, { ...paper, factor: 0.3 })).toBeCloseTo(0.3 * expected, 12);
});
