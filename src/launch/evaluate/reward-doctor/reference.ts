/** The reference answer of a task, where its row has one under a usual name. */
import type { Task } from "../../../core/task.ts";

/** In the order in which they are looked for. */
const names = [
  "answer",
  "reference_answer",
  "referenceAnswer",
  "reference",
  "expected",
  "expected_answer",
  "ground_truth",
  "groundTruth",
  "solution",
  "target",
  "label",
  "gold",
  "output",
  "completion",
];

function asText(value: unknown): string | null {
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  if (typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return asText(value[0]);
  if (typeof value !== "string" || value.trim() === "") return null;
  // GSM8K: a worked solution, then the answer.
  const final = /####\s*(?<final>\S.*)$/u.exec(value.trimEnd());
  return final?.groups?.["final"] ?? value;
}

/** The field's name, or null where no field is one. */
export function referenceField(task: Task): string | null {
  const { metadata } = task;
  if (typeof metadata !== "object" || metadata === null) return null;
  return names.find((name) => asText(metadata[name]) !== null) ?? null;
}

/** The reference answer as text; null without one. */
export function referenceOf(task: Task, field: string | null): string | null {
  const name = field ?? referenceField(task);
  return name === null ? null : asText(task.metadata[name]);
}
