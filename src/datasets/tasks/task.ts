/**
 * Rows of a dataset become tasks. A row that already is a `Task` (`id`, `instruction` and a
 * `metadata` object) is taken as it is. Otherwise, in this order of precedence:
 *
 * - id: `id`, else `task_id`, else the row's index from 0 (string or integer)
 * - instruction: `instruction`, else `question` (string)
 * - metadata: the whole row
 *
 * A field that is null is absent: columns of a table are in every row.
 */
import { ConfigError } from "../../core/errors.ts";
import type { Task, TaskRow } from "../../core/task.ts";
import { isJsonObject } from "../../util/json-object.ts";

/**
 * What `trainDataset` and `valDataset` take: tasks or rows, in an array or any other iterable or async
 * iterable. It is read once, in its own order.
 * @typeParam Row Type of the rows; it determines that of `task.metadata`.
 */
export type DatasetInput<Row = Task | TaskRow> = Iterable<Row> | AsyncIterable<Row>;

function rowError(at: string, problem: string, hint: string, value: unknown): ConfigError {
  return new ConfigError({ message: `${at}: ${problem}`, hint, fields: { at, value } });
}

function readId(row: Record<string, unknown>, index: number, at: string): string {
  const key = (row["id"] ?? null) === null ? "task_id" : "id";
  const id = row[key] ?? null;
  if (id === null) return String(index);
  if (typeof id === "string" && id !== "") return id;
  if (typeof id === "number" && Number.isInteger(id)) return String(BigInt(id));
  throw rowError(
    at,
    `"${key}" must be a string or an integer; got ${JSON.stringify(id)}.`,
    "Give each row a unique id, or omit the ids to number the rows.",
    id,
  );
}

/**
 * One row as a task.
 * @param isMapped whether its fields were mapped: then it is a row, even if it looks like a task.
 * @throws ConfigError that names the row.
 */
export function toTask(
  row: unknown,
  index: number,
  at: string = `row ${index + 1}`,
  isMapped = false,
): Task {
  if (!isJsonObject(row)) {
    throw rowError(
      at,
      `a row must be a map; got ${JSON.stringify(row)}.`,
      "Write one object per row.",
      row,
    );
  }
  const id = readId(row, index, at);
  const key = (row["instruction"] ?? null) === null ? "question" : "instruction";
  const instruction = row[key] ?? undefined;
  if (typeof instruction !== "string") {
    throw rowError(
      at,
      instruction === undefined
        ? `there is neither "instruction" nor "question".`
        : `"${key}" must be a string; got ${JSON.stringify(instruction)}.`,
      `Put the prompt of the task into "instruction", or name the field with dataset.fields={instruction: FIELD}.`,
      instruction,
    );
  }
  const isTask =
    !isMapped &&
    typeof row["id"] === "string" &&
    key === "instruction" &&
    isJsonObject(row["metadata"]);
  return isTask ? (row as unknown as Task) : { id, instruction, metadata: row };
}
