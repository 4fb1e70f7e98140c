import { describe, expect, it } from "vitest";
import { passAtK } from "./validation-metrics.ts";

/** By counting: the share of all subsets of size k that hold a right one. */
function counted(n: number, right: number, k: number): number {
  let [hits, all] = [0, 0];
  for (let set = 0; set < 2 ** n; set++) {
    const members = Array.from({ length: n }, (_, i) => (set >> i) & 1);
    if (members.reduce((sum, bit) => sum + bit, 0) !== k) continue;
    all++;
    if (members.some((bit, i) => bit === 1 && i < right)) hits++;
  }
  return hits / all;
}

describe("passAtK", () => {
  it.each([
    [4, 1, 1, 0.25],
    [4, 1, 2, 0.5],
    [4, 1, 4, 1],
    [5, 2, 3, 0.9],
    [10, 3, 5, 0.9166666666666667],
  ])("n=%i, right=%i, k=%i: %d", (n, right, k, expected) => {
    expect(passAtK(n, right, k)).toBeCloseTo(expected, 12);
  });

  it("is the share of subsets with a right one, for every n, right and k up to 8", () => {
    for (let n = 1; n <= 8; n++) {
      for (let right = 0; right <= n; right++) {
        for (let k = 1; k <= n; k++) {
          expect(passAtK(n, right, k)).toBeCloseTo(counted(n, right, k), 12);
        }
      }
    }
  });

  it("does not overflow", () => {
    expect(passAtK(10_000, 1, 5000)).toBeCloseTo(0.5, 9);
  });
});
