import { expect, it } from "vitest";
import { overlongPenalty } from "./overlong.ts";

// The paper's own setting: 16384 tokens are free, 4096 more are punished.
const paper = { maxLength: 20_480, margin: 4096, factor: 1 };

it.each([
  [0, 0],
  [16_384, 0],
  [17_408, -0.25],
  [18_432, -0.5],
  [20_480, -1],
  [30_000, -1],
])("an answer of %i tokens gets %d", (length, expected) => {
  expect(overlongPenalty(length, paper)).toBeCloseTo(expected, 12);
  expect(overlongPenalty(length, { ...paper, factor: 0.3 })).toBeCloseTo(0.3 * expected, 12);
});
