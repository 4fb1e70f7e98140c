import { expect, it } from "vitest";
import { suffixOf, sizeOf, together, prefixOf } from "./extent.ts";

it("pads segments to the longest of their kind, and counts a prefix for each of its suffixes", () => {
  // Two rows behind 10 tokens with 3 and 5 of their own, and one of 4 by itself.
  const batch = [prefixOf(10), suffixOf(3), suffixOf(5), prefixOf(0), suffixOf(4)].reduce(together);
  expect(sizeOf(batch)).toEqual({
    tokens: 10 + 3 + 5 + 4,
    scores: 10 * 10 + 3 * 5 * (10 + 5),
    keys: 10 + 3 * (10 + 5),
  });
});
