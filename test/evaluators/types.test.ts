/** Evaluators fit the rows of a dataset, whichever type these have. */
import { expect, it } from "vitest";
import type { Evaluator } from "../../src/core/agent.ts";
import { AgentTrainer } from "../../src/launch/agent-trainer.ts";
import type { Task } from "../../src/core/task.ts";
import {
  code,
  exactMatch,
  f1,
  json,
  lengthPenalty,
  number,
  weighted,
} from "../../src/evaluators/index.ts";
import { episodeOf, taskOf } from "./episode-of.ts";

interface Row {
  readonly question: string;
  readonly answer: string;
  readonly tests: readonly string[];
}
const rows: readonly Row[] = [{ question: "2 + 3?", answer: "5", tests: [] }];

it("compiles without a type argument, and with one where a function reads the row", async () => {
  const base = {
    agentFlow: async () => "5",
    config: { model: { name: "builtin:shop-tiny" } },
    trainDataset: rows,
  };
  const own = (task: Task<Row>): boolean => task.metadata.answer === "5";
  const trainers = [
    new AgentTrainer({ ...base, evaluator: exactMatch() }),
    new AgentTrainer({
      ...base,
      evaluator: exactMatch<Row>({ answer: (task) => task.metadata.answer }),
    }),
    new AgentTrainer({
      ...base,
      evaluator: code<Row>({ language: "python", tests: (task) => task.metadata.tests }),
    }),
    new AgentTrainer({
      ...base,
      evaluator: weighted({
        correct: [1, number()],
        length: [1, lengthPenalty({ from: 1, to: 2 })],
      }),
    }),
    new AgentTrainer({
      ...base,
      evaluator: weighted({
        correct: [0.5, exactMatch<Row>({ answer: (task) => task.metadata.answer })],
        overlap: [0.3, f1()],
        own: [0.2, own],
      }),
    }),
  ];
  expect(trainers).toHaveLength(5);
  // @ts-expect-error the row has no such field
  exactMatch<Row>({ answer: (task) => task.metadata.solution });
  // @ts-expect-error the type of the row is not known
  exactMatch({ answer: (task) => task.metadata.answer });
  const declared: Evaluator<Row> = weighted({
    a: [1, f1()],
    b: [1, json({ answer: (task) => task.metadata.answer })],
  });
  const evaluate = declared as ReturnType<typeof weighted<Row>>;
  expect((await evaluate(taskOf(rows[0]!), episodeOf("5"))).reward).toBe(2);
});
