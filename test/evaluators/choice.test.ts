/** Multiple choice. */
import { describe, expect, it } from "vitest";
import { multipleChoice } from "../../src/evaluators/index.ts";
import { episodeOf, taskOf } from "./episode-of.ts";

const choices = ["Paris", "London", "Rome", "Berlin"];

describe("multipleChoice", () => {
  it.each([
    // The forms that MMLU-Pro's script extracts.
    ["Step by step ... The answer is (C).", "C", 1],
    ["the answer is C", "C", 1],
    ["Answer: C", "C", 1],
    ["**Answer:** C", "C", 1],
    ["C", "C", 1],
    ["(c)", "C", 1],
    ["C.", "C", 1],
    ["C) Rome, because", "C", 1],
    ["so $\\boxed{C}$", "C", 1],
    ["so $\\boxed{\\text{C}}$", "C", 1],
    ["Rome", "C", 1],
    ["rome.", "Rome", 1],
    ["It cannot be (A), so it is (C)", 2, 1],
    ["First I thought the answer is A. No: the answer is C.", "C", 1],
    ["The answer is a city", "A", 0],
    ["A dog", "A", 0],
    ["The answer is (E)", "E", 0],
    ["Paris or Rome", "C", 0],
    ["The answer is B", "C", 0],
    ["", "A", 0],
  ])("%j against %j is %d", (text, answer, reward) => {
    expect(multipleChoice()(taskOf({ answer, choices }), episodeOf(text)).reward).toBe(reward);
  });

  it("takes letters to J without choices", () => {
    expect(multipleChoice()(taskOf({ answer: "J" }), episodeOf("Answer: J")).reward).toBe(1);
    expect(multipleChoice()(taskOf({ answer: "K" }), episodeOf("Answer: K")).reward).toBe(0);
  });

  it.each([
    [{ answer: 4, choices }, /none of its choices/u],
    [{ answer: "Madrid", choices }, /none of its choices/u],
    [{ answer: "A", choices: "ABC" }, /not a list/u],
    [{ answer: "A", choices: Array.from({ length: 27 }, () => "x") }, /at most 26/u],
  ])("refuses %j", (metadata, message) => {
    expect(() => multipleChoice()(taskOf(metadata), episodeOf("A"))).toThrow(message);
  });
});
