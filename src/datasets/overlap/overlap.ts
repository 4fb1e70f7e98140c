/** Tasks that occur twice: within a dataset, or in the training data and in the validation data. */
import { createHash } from "node:crypto";
import type { Dataset, Task } from "../../core/task.ts";
import { normalizeText } from "../../util/normalize-text.ts";

const idKeys = new Set(["id", "task_id"]);

/** Keys of 16 bytes in place of texts of any length. */
const digest = (text: string): string =>
  createHash("sha256").update(normalizeText(text)).digest("base64").slice(0, 22);

const byInstruction = ({ instruction }: Task): string => digest(instruction);

const byRow = ({ instruction, metadata }: Task): string =>
  digest(
    `${instruction} ${JSON.stringify(metadata, (key, value: unknown) => (idKeys.has(key) ? undefined : value))}`,
  );

/** What is the same for tasks that are: the instruction, or the whole row where few instructions differ ("Solve the puzzle."). */
function taskKey(dataset: Dataset): (task: Task) => string {
  const distinct = new Set<string>();
  for (const { instruction } of dataset) {
    distinct.add(instruction);
    if (distinct.size * 2 > dataset.length) return byInstruction;
  }
  return byRow;
}

/** A task and an earlier one that it repeats. */
export interface Duplicate {
  /** Position of the task. */
  readonly index: number;
  /** Position of the earlier one. */
  readonly other: number;
}

/** Tasks of which an earlier task is a duplicate: the same but for case, white space and the width of letters. */
export function findDuplicates(dataset: Dataset): readonly Duplicate[] {
  const keyOf = taskKey(dataset);
  const seen = new Map<string, number>();
  const found: Duplicate[] = [];
  let index = 0;
  for (const task of dataset) {
    const key = keyOf(task);
    const other = seen.get(key);
    if (other === undefined) seen.set(key, index);
    else found.push({ index, other });
    index += 1;
  }
  return found;
}

/** The dataset without tasks of which an earlier task is a duplicate. */
export function withoutDuplicates(dataset: Dataset, duplicates: readonly Duplicate[]): Dataset {
  if (duplicates.length === 0) return dataset;
  const gone = new Set(duplicates.map(({ index }) => index));
  return Array.from(dataset).filter((_, index) => !gone.has(index));
}

/** A validation task that is in the training data, too. */
export interface Leak {
  readonly val: Task;
  readonly train: Task;
}

/**
 * Validation tasks that are also training tasks.
 *
 * What is compared is the instruction, or the whole row where most instructions are the same. Texts are
 * the same if they differ in case, white space and the width of letters at most.
 *
 * @example
 * for (const { val, train } of findLeaks(split.train, split.val)) {
 *   console.log(`${val.id} is ${train.id}`);
 * }
 */
export function findLeaks(train: Dataset, val: Dataset): readonly Leak[] {
  const keyOf = taskKey(train);
  const keyed = Array.from(val, (task) => ({ task, key: keyOf(task) }));
  const wanted = new Set(keyed.map(({ key }) => key));
  const found = new Map<string, Task>();
  for (const task of train) {
    const key = keyOf(task);
    if (wanted.has(key) && !found.has(key)) found.set(key, task);
  }
  return keyed.flatMap(({ task, key }) => {
    const same = found.get(key);
    return same === undefined ? [] : [{ val: task, train: same }];
  });
}
