/** Comparison of texts: equality, normalization and F1 of SQuAD. */
import { describe, expect, it } from "vitest";
import { exactMatch, f1, normalizedMatch } from "../../src/evaluators/index.ts";
import { makeStep } from "../make-step.ts";
import { answerTokens } from "../../src/evaluators/normalize-answer.ts";
import { episodeOf, taskOf } from "./episode-of.ts";

describe("exactMatch", () => {
  it.each([
    ["Paris", "Paris", 1],
    ["  Paris\n", "Paris", 1],
    ["paris", "Paris", 0],
    ["Paris.", "Paris", 0],
    ["42", 42, 1],
    [42, "42", 1],
    [{ a: 1 }, '{"a":1}', 1],
    ["NYC", ["New York", "NYC"], 1],
    ["", "", 1],
  ])("%j against %j is %d", (output, answer, reward) => {
    expect(exactMatch()(taskOf({ answer }), episodeOf(output))).toMatchObject({
      reward,
      isCorrect: reward === 1,
    });
  });

  it("does not trim where that is off", () => {
    const evaluate = exactMatch({ trim: false });
    expect(evaluate(taskOf({ answer: "a" }), episodeOf("a ")).reward).toBe(0);
  });

  it("scores the last response where the agent returned nothing", () => {
    const say = (content: string) => makeStep({ response: { role: "assistant", content } });
    const steps = [say("first"), say("last")];
    const task = taskOf({ answer: "last" });
    expect(exactMatch()(task, episodeOf(undefined, steps)).reward).toBe(1);
    expect(exactMatch()(task, episodeOf(undefined)).reward).toBe(0);
  });

  it("takes the reference from a function", () => {
    const evaluate = exactMatch<{ gold: string }>({ answer: (task) => task.metadata.gold });
    expect(evaluate(taskOf({ gold: "x" }), episodeOf("x")).reward).toBe(1);
  });

  it.each([
    [undefined, /task\.metadata\.answer/u],
    [() => undefined, /the function that was given/u],
    [() => [], /the function that was given/u],
  ])("names a task without a reference", (answer, message) => {
    const evaluate = exactMatch(answer === undefined ? {} : { answer });
    expect(() => evaluate(taskOf({}), episodeOf("x"))).toThrow(
      expect.objectContaining({
        code: "EVALUATOR_FAILED",
        message: expect.stringMatching(message) as string,
      }),
    );
  });

  it("does not read what is longer than the limit", () => {
    const evaluate = exactMatch({ maxChars: 3 });
    expect(evaluate(taskOf({ answer: "abcd" }), episodeOf("abcd"))).toMatchObject({
      reward: 0,
      metadata: { reason: "the text is longer than maxChars" },
    });
  });
});

// Values calculated with the functions of SQuAD's evaluate-v1.1.py.
describe("normalizedMatch", () => {
  it.each([
    ["The Eiffel Tower.", "eiffel tower", 1],
    ["a  Cat", "the cat!", 1],
    ["U.S.A.", "USA", 1],
    ["state-of-the-art", "stateoftheart", 1],
    ["theatre", "atre", 0],
    ["dog", "cat", 0],
  ])("%j against %j is %d", (output, answer, reward) => {
    expect(normalizedMatch()(taskOf({ answer }), episodeOf(output)).reward).toBe(reward);
  });
});

describe("the punctuation of numbers", () => {
  it.each([
    ["5", "-5", 0],
    ["−5", "-5", 1],
    ["(-5)", "-5", 1],
    ["+5", "5", 1],
    ["- 5 apples", "5 apples", 1],
    ["15", "1.5", 0],
    ["1.5.", "1.5", 1],
    ["5", ".5", 0],
    ["It was 1066.", "it was 1066", 1],
    ["1066...", "1066", 1],
    ["1e5", "1e-5", 0],
    ["1E-5", "1e-5", 1],
    ["1e+5", "1e5", 1],
    ["12", "1/2", 0],
    ["1/2", "1/2", 1],
    ["1000", "1,000", 1],
    ["$1,234,567.5", "1234567.5", 1],
    ["15", "1,5", 0],
    ["1990-1995", "19901995", 0],
    ["230", "2:30", 0],
    ["106", "10^6", 0],
    ["-$5", "$5", 0],
    ["-.5", ".5", 0],
    ["covid 19", "covid-19", 0],
    ["covid19", "covid-19", 1],
    ["GPT-4!", "gpt4", 1],
    ["5%", "5", 1],
    ["C", "C++", 1],
    ["state-of-the-art 3D", "stateoftheart 3d", 1],
    ["10.0.0.1", "10001", 0],
  ])("%j against %j is %d", (output, answer, reward) => {
    expect(normalizedMatch()(taskOf({ answer }), episodeOf(output)).reward).toBe(reward);
    if (reward === 1) expect(f1()(taskOf({ answer }), episodeOf(output)).reward).toBe(1);
    else expect(f1()(taskOf({ answer }), episodeOf(output)).reward).toBeLessThan(1);
  });

  it.each(["A", "the", "!!!", "", "a - an", "“the.", ["Rome", "?"]])(
    "is all of the reference %j, which is refused",
    (answer) => {
      const isOther = answer === "“the.";
      for (const evaluate of [normalizedMatch(), f1()]) {
        const score = () => evaluate(taskOf({ answer }), episodeOf(""));
        if (isOther) expect(score().reward).toBe(0);
        else
          expect(score).toThrow(
            expect.objectContaining({
              code: "EVALUATOR_FAILED",
              message: expect.stringContaining('"task-1" is only articles') as string,
            }),
          );
      }
    },
  );
});

describe("f1", () => {
  it.each([
    ["Denver Broncos", "Denver Broncos", 1],
    // 2 of 3 words found, 2 of 2 expected: 2 * (2/3 * 1) / (2/3 + 1).
    ["Denver Broncos team", "The Denver Broncos", 0.8],
    ["in the year 1066", "1066", 0.5],
    ["nothing like it", "Denver Broncos", 0],
    ["to be to be", "to be", 2 / 3],
    ["", "x", 0],
    ["Broncos", ["Panthers", "Denver Broncos", "none"], 2 / 3],
    ["__proto__ constructor", "constructor", 2 / 3],
  ])("%j against %j is %d", (output, answer, reward) => {
    expect(f1()(taskOf({ answer }), episodeOf(output)).reward).toBeCloseTo(reward, 12);
  });

  // What SQuAD's four steps leave, with Python 3.11's string.punctuation, re and str.split; not its script itself.
  it.each([
    ["“The cat”", ["“", "cat”"]],
    ["the’s a’b", ["’s", "’b"]],
    ["don’t, don't", ["don’t", "dont"]],
    ["A_the b", ["athe", "b"]],
    ["an\u001Cx\uFEFFy", ["x\uFEFFy"]],
    ["thé a", ["thé"]],
    ["café’s “a” THE", ["café’s", "“", "”"]],
  ])("f1 sees the words of %j as SQuAD does", (text, words) => {
    expect(answerTokens(text)).toEqual(words);
  });

  it("is correct from the threshold on, and reports exact matches", () => {
    const result = f1({ threshold: 0.8 })(
      taskOf({ answer: "The Denver Broncos" }),
      episodeOf("Denver Broncos team"),
    );
    expect(result.isCorrect).toBe(true);
    expect(result.signals).toEqual([
      { name: "f1", value: 0.8 },
      { name: "exact", value: 0 },
    ]);
  });
});
