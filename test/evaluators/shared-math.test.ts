/** The final results of public reports, kept beside the repository. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { math, number } from "../../src/evaluators/index.ts";
import { sharedCases } from "../shared-cases.ts";
import { episodeOf, taskOf } from "./episode-of.ts";

interface Case {
  readonly evaluator?: "math" | "number";
  readonly kind: string;
  readonly reference?: string;
  readonly answer?: string;
  readonly response: string;
  readonly reward: number;
}

const evaluators = { math: math(), number: number() };
const cases = ["math.json", "choice-and-number.json"]
  .flatMap((file) => {
    const path = sharedCases(`training/${file}`);
    return path === null ? [] : (JSON.parse(readFileSync(path, "utf8")) as readonly Case[]);
  })
  // Other cases are those of multipleChoice.
  .filter(({ evaluator = "math" }) => Object.hasOwn(evaluators, evaluator));

describe.skipIf(cases.length === 0)("results of public reports", () => {
  it.each(cases.map((one) => [one.kind, one.reference ?? one.answer, one.response, one] as const))(
    "%s: %j, %j",
    (_kind, answer, response, { evaluator = "math", reward }) => {
      const score = evaluators[evaluator](taskOf({ answer }), episodeOf(response));
      expect(score.reward).toBe(reward);
    },
  );
});

describe("the folder of shared cases", () => {
  it("is read where it is beside the repository", (context) => {
    if (sharedCases("training/math.json") === null) context.skip("there is no folder shared/cases");
    expect(cases.length).toBeGreaterThan(60);
  });
});
