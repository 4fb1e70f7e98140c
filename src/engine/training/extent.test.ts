import { expect, it } from "vitest";
import { branchOf, sizeOf, together, trunkOf } from "./extent.ts";

it("pads segments to the longest of their kind, and counts a trunk for each of its branches", () => {
  // Two rows behind 10 tokens with 3 and 5 of their own, and one of 4 by itself.
  const batch = [trunkOf(10), branchOf(3), branchOf(5), trunkOf(0), branchOf(4)].reduce(together);
  expect(sizeOf(batch)).toEqual({
    tokens: 10 + 3 + 5 + 4,
    scores: 10 * 10 + 3 * 5 * (10 + 5),
    keys: 10 + 3 * (10 + 5),
  });
});
