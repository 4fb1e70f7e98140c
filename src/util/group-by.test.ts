import { expect, test } from "vitest";
import { addTo, groupBy } from "./group-by.ts";

test("groups keep the order of first appearance, and of items within a group", () => {
  const groups = groupBy(["bee", "ant", "bat", "ape"], (word) => word[0]);
  expect([...groups]).toEqual([
    ["b", ["bee", "bat"]],
    ["a", ["ant", "ape"]],
  ]);
});

test("the key may be made from the index", () => {
  expect([...groupBy("abcd", (_, index) => index % 2).values()]).toEqual([
    ["a", "c"],
    ["b", "d"],
  ]);
});

test("a value is added to the list of its key", () => {
  const groups = new Map([["a", [1]]]);
  addTo(groups, "a", 2);
  addTo(groups, "b", 3);
  expect(Object.fromEntries(groups)).toEqual({ a: [1, 2], b: [3] });
});
