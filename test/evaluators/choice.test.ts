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
    ["(b)", "B", 1],
    ["**C**", "C", 1],
    ["`c`", "C", 1],
    ["Answer: d)", "D", 1],
    ["answer: b", "B", 1],
    ["**Answer: b**", "B", 1],
    ["Answer: **(b)**", "B", 1],
    ["The answer is a.", "A", 1],
    ["the answer is (a)", "A", 1],
    ["The correct answer is **A**, by elimination.", "A", 1],
    ["The answer is A by elimination.", "A", 1],
    ["The answer is a because it is large.", "A", 1],
    ["The answer is clearly b, as shown.", "B", 1],
    ["The correct option is “c”.", "C", 1],
    ["The answer should be d", "D", 1],
    ["Correct answer → C", "C", 1],
    ["ANSWER - B", "B", 1],
    ["## Answer\n\nc", "C", 1],
    ["Both are close.\n\n**(c) Rome**", "C", 1],
    ["Both are close.\n\nC", "C", 1],
    ["c) rome, because it is", "C", 1],
    ["B. London", "B", 1],
    ["I would go with option b.", "B", 1],
    ["I pick D.", "D", 1],
    ["The answer is B. Option A is wrong.", "B", 1],
    ["C) Rome, because option B is in England.", "C", 1],
    ["$\\boxed{c}$", "C", 1],
    ["\\boxed{C. Rome}", "C", 1],
    ["\\boxed{\\textbf{(C)}\\ Rome}", "C", 1],
    ["\\boxed{\\mathrm{C}}", "C", 1],
    ["\\boxed{\\textbf{\\text{C}}}", "C", 1],
    ["\\boxed{\\text{Rome}}", "C", 1],
    ["\\boxed{Option C}", "C", 1],
    ["\\boxed{12}, so the answer is C", "C", 1],
    ["The answer is not A. It is C.", "C", 1],
    ["Answer: <b>C</b>", "C", 1],
    ["<answer>c</answer>", "C", 1],
    ["It's close, but a careful look shows (b).", "B", 1],
    ["B\n\nBecause of the Thames.", "B", 1],
    ["b\n\nBecause of the Thames, not the Seine.", "B", 1],
    ["B - London", "B", 1],
    ["B because of the Thames", "B", 1],
    ["The answer can't be A, so it's B", "B", 1],
    ["The answer is (A) and (B)", "B", 0],
    ["The answer is both A and B.", "B", 0],
    ["Options A and B are wrong, so C.", "A", 0],
    // No choice, but the article, a pronoun, or a part of a word.
    ["It is a city in Italy.", "A", 0],
    ["Answer: A dog barks.", "A", 0],
    ["The answer is a, b or c.", "A", 0],
    ["The answer is A or B.", "A", 0],
    ["The answer is A or B.", "B", 0],
    ["The answer isn't D", "N", 0],
    ["I think a choice is a matter of taste.", "A", 0],
    ["The answer is d'accord", "D", 0],
    ["The answer is A-level work.", "A", 0],
    ["A. Paris is in France.\nB. London is in England.", "A", 0],
    ["the best option a person has", "A", 0],
    ["\\boxed{a city}", "A", 0],
    ["?!", "A", 0],
  ])("%j against %j is %d", (text, answer, reward) => {
    expect(multipleChoice()(taskOf({ answer, choices }), episodeOf(text)).reward).toBe(reward);
  });

  it("takes letters to J without choices", () => {
    expect(multipleChoice()(taskOf({ answer: "J" }), episodeOf("Answer: J")).reward).toBe(1);
    expect(multipleChoice()(taskOf({ answer: "K" }), episodeOf("Answer: K")).reward).toBe(0);
    expect(multipleChoice()(taskOf({ answer: "I" }), episodeOf("Answer: I think so")).reward).toBe(
      0,
    );
    expect(multipleChoice()(taskOf({ answer: "I" }), episodeOf("The answer is i.")).reward).toBe(1);
  });

  it("tells choices apart that are numbers", () => {
    const numbers = { choices: ["3", "-3", "0.3", "!"] };
    const score = (answer: string, text: string) =>
      multipleChoice()(taskOf({ answer, ...numbers }), episodeOf(text)).reward;
    expect(score("-3", "-3")).toBe(1);
    expect(score("3", "3.")).toBe(1);
    expect(score("-3", "3")).toBe(0);
    expect(score("D", "")).toBe(0);
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
