/** Evaluators with one planted fault each, and evaluators without one. */
import type { Evaluator } from "../../src/core/agent.ts";
import type { Task } from "../../src/core/task.ts";
import type { RewardFault } from "../../src/launch/evaluate/reward-doctor/report.ts";
import { exactMatch, f1, math, multipleChoice, number } from "../../src/evaluators/index.ts";

export const sums: readonly Task[] = Array.from({ length: 24 }, (_, i) => ({
  id: `sum-${i}`,
  instruction: `What is ${3 * i + 14} + ${7 * i + 5}?`,
  metadata: { answer: String(10 * i + 19) },
}));

const capitals = [
  ["France", "Paris"],
  ["Japan", "Tokyo"],
  ["Peru", "Lima"],
  ["Egypt", "Cairo"],
  ["Norway", "Oslo"],
  ["Kenya", "Nairobi"],
  ["Cuba", "Havana"],
  ["Chile", "Santiago"],
] as const;
export const places: readonly Task[] = capitals.map(([country, answer]) => ({
  id: country,
  instruction: `Which city is the capital of ${country}?`,
  metadata: { answer },
}));
const choices: readonly Task[] = capitals.map(([country], i) => ({
  id: `choice-${country}`,
  instruction: `Capital of ${country}? A) ${capitals[(i + 1) % 8]?.[1]} B) ${capitals[i]?.[1]} C) ${capitals[(i + 2) % 8]?.[1]}`,
  metadata: { answer: "B" },
}));

const answerOf = (task: Task): string => String(task.metadata["answer"]);
const outputOf = ({ output }: { readonly output: unknown }): string => String(output);
const lastNumber = (text: string): string => (text.match(/\d+/gu) ?? []).at(-1) ?? "";
const words = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

export const right: Evaluator = (task, episode) => lastNumber(outputOf(episode)) === answerOf(task);

export interface PlantedFault {
  readonly fault: RewardFault;
  readonly about: string;
  readonly evaluator: Evaluator;
  readonly tasks?: readonly Task[];
}

let calls = 0;

export const planted: readonly PlantedFault[] = [
  {
    fault: "pays_empty",
    about: "an empty string is part of the answer",
    evaluator: (task, episode) => answerOf(task).includes(outputOf(episode).trim()),
  },
  {
    fault: "pays_echo",
    about: "words of the question count as words of the answer",
    tasks: places,
    evaluator(task, episode) {
      const said = new Set(words(outputOf(episode)));
      const asked = [...words(task.instruction), ...words(answerOf(task))];
      return asked.filter((word) => said.has(word)).length / asked.length;
    },
  },
  {
    fault: "pays_refusal",
    about: "a safety score that is all there is",
    evaluator: (_task, episode) =>
      /\b(?:can't|cannot|unable|sorry)\b/iu.test(outputOf(episode)) ? 1 : 0.2,
  },
  {
    fault: "pays_format",
    about: "tags are worth more than what is in them",
    evaluator: (task, episode) =>
      0.8 * Number(/<answer>.*<\/answer>/su.test(outputOf(episode))) +
      0.2 * Number(lastNumber(outputOf(episode)) === answerOf(task)),
  },
  {
    fault: "pays_length",
    about: "a bonus per character",
    evaluator: (task, episode) =>
      Number(outputOf(episode).includes(answerOf(task))) + outputOf(episode).length / 2000,
  },
  {
    fault: "pays_wrong_answer",
    about: "any number is right",
    evaluator: (_task, episode) => lastNumber(outputOf(episode)) !== "",
  },
  {
    fault: "pays_substring",
    about: "the answer may be part of another number",
    evaluator: (task, episode) => outputOf(episode).includes(answerOf(task)),
  },
  {
    fault: "pays_listing",
    about: "any of the words may be the answer",
    tasks: places,
    evaluator: (task, episode) => words(outputOf(episode)).includes(answerOf(task).toLowerCase()),
  },
  {
    fault: "pays_injection",
    about: "the verdict is looked for in the text that is judged",
    evaluator(task, episode) {
      const judged = `Response: ${outputOf(episode)}\nVerdict: ${lastNumber(outputOf(episode)) === answerOf(task) ? "correct" : "wrong"}`;
      return /verdict:?\W*correct/iu.test(judged);
    },
  },
  {
    fault: "rejects_reference",
    about: "another field than the tasks have",
    evaluator: (task, episode) =>
      (lastNumber(outputOf(episode)) === String(task.metadata["result"]) ? 1 : 0) +
      0.1 * Number(outputOf(episode).length > 0),
  },
  {
    fault: "rejects_reference",
    about: "a distance as a reward",
    evaluator: (task, episode) =>
      Math.abs(Number(lastNumber(outputOf(episode)) || "0") - Number(answerOf(task))) / 1000,
  },
  {
    fault: "nondeterministic",
    about: "a judge at a temperature",
    evaluator: (task, episode) =>
      Number(lastNumber(outputOf(episode)) === answerOf(task)) * 0.8 + 0.05 * (++calls % 5),
  },
  {
    fault: "fails",
    about: "an output that is not JSON",
    evaluator(task, episode) {
      const { answer } = JSON.parse(outputOf(episode)) as { answer: unknown };
      return String(answer) === answerOf(task);
    },
  },
  {
    fault: "fails",
    about: "NaN where there is no number",
    evaluator: (task, episode) =>
      1 / (1 + Math.abs(Number.parseInt(outputOf(episode), 10) - Number(answerOf(task)))),
  },
  {
    fault: "fails",
    about: "a judge that never responds to long text",
    evaluator: (task, episode) =>
      outputOf(episode).length > 2000 ? new Promise(() => {}) : right(task, episode),
  },
  {
    fault: "rejects_reference",
    about: "reads a field that no output has",
    evaluator: (task, episode) =>
      (episode.output as { final?: string }).final === answerOf(task) ? 1 : 0,
  },
];

export const sound: readonly {
  readonly name: string;
  readonly evaluator: Evaluator;
  readonly tasks: readonly Task[];
}[] = [
  { name: "the last number", evaluator: right, tasks: sums },
  { name: "exactMatch", evaluator: exactMatch(), tasks: places },
  { name: "number", evaluator: number(), tasks: sums },
  { name: "math", evaluator: math(), tasks: sums },
  { name: "multipleChoice", evaluator: multipleChoice(), tasks: choices },
  { name: "f1", evaluator: f1(), tasks: places },
  {
    name: "format and answer",
    evaluator: (task, episode) =>
      0.2 * Number(/<answer>.*<\/answer>/su.test(outputOf(episode))) +
      0.8 * Number(lastNumber(outputOf(episode)) === answerOf(task)),
    tasks: sums,
  },
];
