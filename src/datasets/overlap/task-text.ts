/** Which text of a task says whether two tasks are the same. */
import type { Dataset, Task } from "../../core/task.ts";
import { normalizeText } from "../../util/normalize-text.ts";

/** The instruction; or the whole row, where instructions do not tell tasks apart. */
export interface TaskText {
  readonly kind: "instruction" | "row";
  of(task: Task): string;
}

const idKeys = new Set(["id", "task_id"]);

const byInstruction: TaskText = {
  kind: "instruction",
  of: ({ instruction }) => normalizeText(instruction),
};

const byRow: TaskText = {
  kind: "row",
  of: ({ instruction, metadata }) =>
    normalizeText(
      `${instruction} ${JSON.stringify(metadata, (key, value: unknown) => (idKeys.has(key) ? undefined : value))}`,
    ),
};

/** A dataset whose tasks share few instructions, such as "Solve the puzzle.", is compared by whole rows. */
export function taskText(dataset: Dataset): TaskText {
  const distinct = new Set<string>();
  for (const { instruction } of dataset) {
    distinct.add(instruction);
    if (distinct.size * 2 > dataset.length) return byInstruction;
  }
  return byRow;
}
