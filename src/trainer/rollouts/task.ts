/**
 * Rows of a dataset become tasks. A row that already is a `Task` (`id`, `instruction` and a
 * `metadata` object) is taken as it is. Otherwise, in this order of precedence:
 *
 * - id: `id`, else `task_id`, else the row's index from 0 (string or integer)
 * - instruction: `instruction`, else `question` (string)
 * - metadata: the whole row
 */
import { ConfigError } from "../../core/errors.ts";
import type { Task, TaskRow } from "../../core/task.ts";
import { whyUnrecordable } from "../../rollout/recordable.ts";

/** What `trainDataset` and `valDataset` take: tasks or rows, in any iterable or async iterable. */
export type DatasetInput<Metadata = Record<string, unknown>> =
  | Iterable<Task<Metadata> | TaskRow>
  | AsyncIterable<Task<Metadata> | TaskRow>;

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Location of a row, for messages: `data/train.jsonl:7`, or by default `row 7 of the training data`. */
export type RowLocation = (index: number) => string;

function rowError(at: string, problem: string, hint: string, value: unknown): ConfigError {
  return new ConfigError({ message: `${at}: ${problem}`, hint, fields: { at, value } });
}

function readId(row: Record<string, unknown>, index: number, at: string): string {
  const key = row["id"] === undefined ? "task_id" : "id";
  const id = row[key];
  if (id === undefined) return String(index);
  if (typeof id === "string" && id !== "") return id;
  if (typeof id === "number" && Number.isInteger(id)) return String(id);
  throw rowError(
    at,
    `"${key}" must be a string or an integer; got ${JSON.stringify(id)}.`,
    "Give each row a unique id, or omit the ids to number the rows.",
    id,
  );
}

/**
 * One row as a task.
 * @throws ConfigError that names the row.
 */
export function toTask<Metadata = Record<string, unknown>>(
  row: unknown,
  index: number,
  at: string = `row ${index + 1}`,
): Task<Metadata> {
  if (!isMap(row)) {
    throw rowError(
      at,
      `a row must be a map; got ${JSON.stringify(row)}.`,
      "Write one object per row.",
      row,
    );
  }
  const id = readId(row, index, at);
  const key = row["instruction"] === undefined ? "question" : "instruction";
  const instruction = row[key];
  if (typeof instruction !== "string") {
    throw rowError(
      at,
      instruction === undefined
        ? `there is neither "instruction" nor "question".`
        : `"${key}" must be a string; got ${JSON.stringify(instruction)}.`,
      `Put the prompt of the task into "instruction".`,
      instruction,
    );
  }
  const isTask = typeof row["id"] === "string" && key === "instruction" && isMap(row["metadata"]);
  return isTask
    ? (row as unknown as Task<Metadata>)
    : { id, instruction, metadata: row as Metadata };
}

/**
 * A whole dataset as tasks, in its own order.
 * @throws ConfigError when a row is invalid, an id occurs twice, or there is no row at all.
 */
export async function readDataset<Metadata>(
  rows: DatasetInput<Metadata>,
  name: string,
  locate: RowLocation = (index) => `row ${index + 1} of the ${name}`,
): Promise<Task<Metadata>[]> {
  const tasks: Task<Metadata>[] = [];
  const seen = new Map<string, number>();
  for await (const row of rows) {
    const index = tasks.length;
    const task = toTask<Metadata>(row, index, locate(index));
    const earlier = seen.get(task.id);
    if (earlier !== undefined) {
      throw rowError(
        locate(index),
        `the id ${JSON.stringify(task.id)} is already that of ${locate(earlier)}.`,
        "Ids must be unique within a dataset: rollouts of one id are compared with each other.",
        task.id,
      );
    }
    const why = whyUnrecordable(task);
    if (why !== null) {
      throw rowError(
        locate(index),
        `the row holds ${why}, which cannot be written to the run folder.`,
        "Use plain data; hand live objects to the agent with hooks.setUp.",
        task.id,
      );
    }
    seen.set(task.id, index);
    tasks.push(task);
  }
  if (tasks.length === 0) {
    throw new ConfigError({
      message: `The ${name} has no rows.`,
      hint: "Training needs at least one task.",
      fields: { name },
    });
  }
  return tasks;
}
