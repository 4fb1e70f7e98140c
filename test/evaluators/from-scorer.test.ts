/** Scorers of other libraries. */
import { expect, it } from "vitest";
import { fromScorer, type ExternalScorer } from "../../src/evaluators/index.ts";
import { episodeOf, taskOf } from "./episode-of.ts";

const task = taskOf({ answer: "abd" }, "Say abd.");

it("passes input, output and expected value, and takes the score", async () => {
  const seen: unknown[] = [];
  const scorer: ExternalScorer = async (args) => {
    seen.push(args);
    return { name: "Levenshtein", score: 2 / 3 };
  };
  expect(await fromScorer(scorer)(task, episodeOf("abc"))).toEqual({
    reward: 2 / 3,
    isCorrect: false,
  });
  expect(seen).toEqual([{ input: "Say abd.", output: "abc", expected: "abd" }]);
  const lenient = fromScorer(scorer, { passScore: 0.6 });
  expect(await lenient(task, episodeOf("abc"))).toMatchObject({ isCorrect: true });
});

it("takes a plain number, and nothing that is not a score", async () => {
  expect(await fromScorer(() => 1)(task, episodeOf("x"))).toEqual({ reward: 1, isCorrect: true });
  for (const bad of [{ score: null }, Number.NaN, undefined]) {
    const evaluate = fromScorer((() => bad) as ExternalScorer);
    await expect(evaluate(task, episodeOf("x"))).rejects.toThrow(/no finite score/u);
  }
});
