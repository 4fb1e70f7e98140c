import { expect, it } from "vitest";
import { expectedAnswer } from "./expected.ts";

it("finds the expected answer under its usual names", () => {
  expect(expectedAnswer({ answer: 152, item: "lamp" })).toBe("152");
  expect(expectedAnswer({ ground_truth: "Paris" })).toBe("Paris");
  expect(expectedAnswer({ groundTruth: ["a", "b"] })).toBe('[\n  "a",\n  "b"\n]');
  expect(expectedAnswer({ label: "x", "expected-output": "y" })).toBe("y");
  expect(expectedAnswer({ answer: null, target: false })).toBe("false");
  for (const nothing of [{}, { price: 3 }, null, undefined, "answer"])
    expect(expectedAnswer(nothing)).toBeNull();
});
