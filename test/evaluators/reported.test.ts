/** Inputs from public reports, in the shared folder. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Task } from "../../src/core/task.ts";
import type { EvalOutput } from "../../src/core/trajectory.ts";
import {
  f1,
  formatPenalty,
  functionCalls,
  json,
  multipleChoice,
  normalizedMatch,
  trajectoryMatch,
} from "../../src/evaluators/index.ts";
import { makeStep } from "../make-step.ts";
import { sharedCases } from "../shared-cases.ts";
import { episodeOf, taskOf } from "./episode-of.ts";

function casesOf(name: string): unknown {
  const file = sharedCases(`training/${name}`);
  return file === null ? [] : JSON.parse(readFileSync(file, "utf8"));
}

interface Case {
  readonly kind: string;
  readonly answer: unknown;
  readonly response: string;
  /** Text where more than one is right. */
  readonly reward: number | string;
}

const oneOf = (reward: number | string): readonly number[] =>
  typeof reward === "number" ? [reward] : [1, 0];

const jsonCases = casesOf("json.json") as readonly Case[];
describe.skipIf(jsonCases.length === 0)("json.json (skipped where it is missing)", () => {
  it.each(jsonCases)("$kind: $response", ({ answer, response, reward }) => {
    expect(oneOf(reward)).toContain(json()(taskOf({ answer }), episodeOf(response)).reward);
  });
});

const choices = (
  casesOf("choice-and-number.json") as readonly (Case & { readonly evaluator: string })[]
).filter(({ evaluator }) => evaluator === "multipleChoice");
describe.skipIf(choices.length === 0)(
  "choice-and-number.json (skipped where it is missing)",
  () => {
    it.each(choices)("$kind: $response", ({ answer, response, reward }) => {
      const result = multipleChoice()(taskOf({ answer }), episodeOf(response));
      expect(oneOf(reward)).toContain(result.reward);
    });
  },
);

interface WordCase {
  readonly evaluators: readonly string[];
  readonly kind: string;
  readonly answer: string;
  readonly response: string;
  readonly wanted: number | string;
}

const called = (args: string) => ({ id: "1", name: "f", arguments: args });
const callOf = (args: string) =>
  episodeOf("", [
    makeStep({
      messages: [],
      response: { role: "assistant", content: "", toolCalls: [called(args)] },
    }),
  ]);

const rewards: Readonly<Record<string, (answer: string, response: string) => EvalOutput>> = {
  normalizedMatch: (answer, response) => normalizedMatch()(taskOf({ answer }), episodeOf(response)),
  f1: (answer, response) => f1()(taskOf({ answer }), episodeOf(response)),
  json: (answer, response) => json()(taskOf({ answer }), episodeOf(response)),
  trajectoryMatch: (answer, response) =>
    trajectoryMatch()(
      taskOf({ reference: [{ role: "assistant", tool_calls: [{ function: called(answer) }] }] }),
      callOf(response),
    ),
  functionCalls: (answer, response) =>
    functionCalls()(
      taskOf({ answer: `[{"f":${answer.replace(/:(\d+)/u, ":[$1]")}}]` }),
      callOf(response),
    ),
};

const words = (casesOf("words.json") as readonly WordCase[]).flatMap(({ evaluators, ...rest }) =>
  evaluators.map((evaluator) => ({ evaluator, ...rest })),
);
describe.skipIf(words.length === 0)("words.json (skipped where it is missing)", () => {
  it.each(words)("$evaluator, $kind: $answer", ({ evaluator, kind, answer, response, wanted }) => {
    const score = () => rewards[evaluator]!(answer, response).reward;
    if (kind === "nothing left") return expect(score).toThrow(/"task-1" is only articles/u);
    return expect(score()).toBe(typeof wanted === "number" ? wanted : 1);
  });
});

interface FormatCase {
  readonly tags: readonly string[];
  readonly response: { readonly content: string; readonly reasoning?: string };
}

const formats = casesOf("format-penalty.json") as readonly FormatCase[];
describe.skipIf(formats.length === 0)("format-penalty.json (skipped where it is missing)", () => {
  it.each(formats)("$response", ({ tags, response }) => {
    const step = makeStep({ response: { role: "assistant", ...response } });
    const task: Task<unknown> = taskOf({});
    for (const output of [undefined, response.content])
      expect(formatPenalty({ tags })(task, episodeOf(output, [step])).reward).toBe(0);
  });
});
