/** Rows become tasks: fields are mapped, bad rows refused or counted, and what does not fit into memory goes to a file. */
import { AgentTrainerError, ConfigError } from "../../core/errors.ts";
import type { Dataset, Task } from "../../core/task.ts";
import { whyUnrecordable } from "../../rollouts/programs/recordable.ts";
import type { SourceRow } from "../source-row.ts";
import { type FieldMap, type RowFunction, mapFields } from "./map-fields.ts";
import { toTask } from "./task.ts";
import { TaskFile } from "./task-file.ts";

export interface ReadTasksOptions {
  /** For messages: `dataset train.jsonl`. */
  readonly name: string;
  readonly fields: FieldMap | null;
  readonly map: RowFunction | null;
  readonly skipBadRows: boolean;
  /** Stop reading after this many tasks. */
  readonly stopAfter: number;
  /** Size, as JSON, from which tasks are kept in a file. */
  readonly maxMemoryBytes: number;
  readonly signal: AbortSignal;
  /** Problems to keep. @default 3 */
  readonly maxProblems?: number;
  /** No task at all is a result, not an error. @default false */
  readonly mayBeEmpty?: boolean;
}

export interface ReadTasks {
  readonly tasks: Dataset;
  /** Why rows were skipped: the first ones. */
  readonly problems: readonly AgentTrainerError[];
  readonly badRows: number;
  /** Rows that were read, bad ones included. */
  readonly rows: number;
}

/** Tasks in memory, until they are too large for that. */
class TaskStore {
  readonly #maxBytes: number;
  readonly #tasks: Task[] = [];
  #bytes = 0;
  #file: TaskFile | null = null;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return this.#file?.length ?? this.#tasks.length;
  }

  push(task: Task, text: string): void {
    if (this.#file !== null) return this.#file.push(text);
    this.#tasks.push(task);
    this.#bytes += text.length;
    if (this.#bytes <= this.#maxBytes) return;
    this.#file = new TaskFile();
    for (const earlier of this.#tasks) this.#file.push(JSON.stringify(earlier));
    this.#tasks.length = 0;
  }

  finish(): Dataset {
    return this.#file?.finish() ?? this.#tasks;
  }
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
  const { name, fields, map, skipBadRows, stopAfter, maxMemoryBytes, signal } = options;
  const { maxProblems = 3, mayBeEmpty = false } = options;
  const store = new TaskStore(maxMemoryBytes);
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
    const text = textOf(task, at);
    ids.claim(task.id, at);
    store.push(task, text);
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
    if (store.length >= stopAfter) break;
  }
  if (store.length === 0 && !mayBeEmpty) {
    throw new ConfigError({
      message:
        badRows === 0
          ? `The ${name} has no rows.`
          : `The ${name} has no row that can be used; the first problem: ${problems[0]?.message}`,
      hint: "Training needs at least one task.",
      fields: { name, badRows },
    });
  }
  return { tasks: store.finish(), problems, badRows, rows };
}
