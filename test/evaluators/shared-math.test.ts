/** The final results of public reports, kept beside the repository. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { math, multipleChoice, number } from "../../src/evaluators/index.ts";
import { sharedCases } from "../shared-cases.ts";
import { episodeOf, taskOf } from "./episode-of.ts";

interface Case {
  readonly evaluator?: "math" | "number" | "multipleChoice";
  readonly kind: string;
  readonly reference?: string;
  readonly answer?: string;
  readonly response: string;
  readonly reward: number;
}

const evaluators = { math: math(), number: number(), multipleChoice: multipleChoice() };
const read = (file: string): readonly Case[] => {
  const path = sharedCases(`training/${file}`);
  return path === null ? [] : (JSON.parse(readFileSync(path, "utf8")) as readonly Case[]);
};
const cases = [
  ...read("math.json"),
  ...read("choice-and-number.json").filter(({ evaluator }) => evaluator !== "multipleChoice"),
];

describe("shared cases of results", () => {
  it.skipIf(cases.length > 0)("are not beside the repository", (context) => {
    context.skip("there is no folder shared/cases");
  });

  it.each(cases.map((one) => [one.kind, one.reference ?? one.answer, one.response, one] as const))(
    "%s: %j, %j",
    (_kind, answer, response, { evaluator = "math", reward }) => {
      const score = evaluators[evaluator](taskOf({ answer }), episodeOf(response));
      expect(score.reward).toBe(reward);
    },
  );
});
