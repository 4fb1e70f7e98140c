/** Rows become tasks: fields are mapped, bad rows refused or counted, and what memory has no room for refused. */
import { AgentTrainerError, ConfigError } from "../../core/errors.ts";
import type { Task } from "../../core/task.ts";
import { whyUnrecordable } from "../../rollouts/programs/recordable.ts";
import type { SourceRow } from "../source-row.ts";
import { type FieldMap, type RowFunction, mapFields } from "./map-fields.ts";
import { toTask } from "./task.ts";

export interface ReadTasksOptions {
  /** For messages: `dataset train.jsonl`. */
  readonly name: string;
  readonly fields: FieldMap | null;
  readonly map: RowFunction | null;
  readonly skipBadRows: boolean;
  /** Stop reading after this many tasks. */
  readonly stopAfter: number;
  /** Most characters of all tasks as JSON. @default 1 GiB */
  readonly maxSize?: number;
  readonly signal: AbortSignal;
  /** Problems to keep. @default 3 */
  readonly maxProblems?: number;
  /** No task at all is a result, not an error. @default false */
  readonly mayBeEmpty?: boolean;
}

export interface ReadTasks {
  readonly tasks: readonly Task[];
  /** Why rows were skipped: the first ones. */
  readonly problems: readonly AgentTrainerError[];
  readonly badRows: number;
  /** Rows that were read, bad ones included. */
  readonly rows: number;
}

function rowError(at: string, problem: string, hint: string, value: unknown): ConfigError {
  return new ConfigError({ message: `${at}: ${problem}`, hint, fields: { at, value } });
}

/** Ids that were used, with the location of each. */
class UsedIds {
  readonly #places = new Map<string, string>();

  claim(id: string, at: string): void {
    const earlier = this.#places.get(id);
    if (earlier === undefined) return void this.#places.set(id, at);
    throw rowError(
      at,
      `the id ${JSON.stringify(id)} is already that of ${earlier}.`,
      "Ids must be unique within a dataset: rollouts of one id are compared with each other.",
      id,
    );
  }
}

function tooLarge(name: string, count: number, maxSize: number): ConfigError {
  return new ConfigError({
    message: `The ${name} is too large to be held in memory: its first ${count} tasks have more than ${maxSize / 2 ** 20} MiB as JSON.`,
    hint: "Take its first tasks with dataset.limit, split the file, or leave fields out that no task needs.",
    fields: { name, count, maxSize },
  });
}

/** The task as JSON. */
function textOf(task: Task, at: string): string {
  try {
    return JSON.stringify(task);
  } catch {
    // Explained below.
  }
  throw rowError(
    at,
    `the row holds ${whyUnrecordable(task) ?? "something"}, which cannot be written to the run folder.`,
    "Use plain data; hand live objects to the agent with hooks.setUp.",
    task.id,
  );
}

/**
 * Reads rows to their end, or until there are enough.
 * @throws ConfigError when a row is bad and bad rows are not skipped, or there is no task at all.
 */
export async function readTasks(
  source: AsyncIterable<SourceRow>,
  options: ReadTasksOptions,
): Promise<ReadTasks> {
  const { name, fields, map, skipBadRows, stopAfter, signal } = options;
  const { maxProblems = 3, mayBeEmpty = false, maxSize = 2 ** 30 } = options;
  const tasks: Task[] = [];
  let size = 0;
  const ids = new UsedIds();
  const problems: AgentTrainerError[] = [];
  let [rows, badRows] = [0, 0];

  function add(row: SourceRow, index: number): void {
    if ("problem" in row) throw row.problem;
    const { at } = row;
    const mapped = fields === null ? row.value : mapFields(row.value, fields, at);
    const value = map === null ? mapped : map(mapped as never, index);
    if (map !== null && value === null) return;
    const task = toTask(value, index, at, fields !== null);
    const { length } = textOf(task, at);
    ids.claim(task.id, at);
    tasks.push(task);
    size += length;
  }

  for await (const row of source) {
    signal.throwIfAborted();
    try {
      add(row, rows);
    } catch (error) {
      if (!skipBadRows || !AgentTrainerError.isInstance(error)) throw error;
      badRows += 1;
      if (problems.length < maxProblems) problems.push(error);
    }
    rows += 1;
    if (size > maxSize) throw tooLarge(name, tasks.length, maxSize);
    if (tasks.length >= stopAfter) break;
  }
  if (tasks.length === 0 && !mayBeEmpty) {
    throw new ConfigError({
      message:
        badRows === 0
          ? `The ${name} has no rows.`
          : `The ${name} has no row that can be used; the first problem: ${problems[0]?.message}`,
      hint: "Training needs at least one task.",
      fields: { name, badRows },
    });
  }
  return { tasks, problems, badRows, rows };
}
