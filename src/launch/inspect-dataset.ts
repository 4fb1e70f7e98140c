/** What a dataset holds: its fields, rows that cannot be used, and duplicates. */
import type { Task } from "../core/task.ts";
import { FieldCounter, type FieldReport } from "../datasets/field-report.ts";
import { findDuplicates } from "../datasets/overlap/overlap.ts";
import type { SourceRow } from "../datasets/source-row.ts";
import { readTasks } from "../datasets/tasks/read-tasks.ts";
import { type DatasetSource, type LoadDatasetOptions, openSource } from "./load-dataset.ts";

/** Options of {@link inspectDataset}. */
export interface InspectDatasetOptions extends Pick<
  LoadDatasetOptions,
  "fields" | "folder" | "option" | "signal" | "onDownload"
> {
  /** Rows to read at most. @default all */
  readonly limit?: number;
  /** Examples of tasks, bad rows and duplicates to return. @default 3 */
  readonly examples?: number;
}

/** A task and an earlier one that it repeats, by their ids. */
export interface DuplicateExample {
  readonly id: string;
  readonly duplicates: string;
}

/** What {@link inspectDataset} found. */
export interface DatasetReport {
  /** Rows that were read. */
  readonly rows: number;
  /** Rows that can be used. */
  readonly tasks: number;
  readonly badRows: number;
  /** Why the first bad rows cannot be used, with their locations. */
  readonly problems: readonly string[];
  /** Fields of the rows, in the order of their first occurrence. */
  readonly fields: readonly FieldReport[];
  /** Tasks of which an earlier one is a duplicate. */
  readonly duplicates: {
    readonly count: number;
    readonly examples: readonly DuplicateExample[];
  };
  /** The first tasks. */
  readonly examples: readonly Task[];
}

async function* counted(
  rows: AsyncIterable<SourceRow>,
  fields: FieldCounter,
  limit: number,
): AsyncGenerator<SourceRow> {
  let count = 0;
  for await (const row of rows) {
    if ("value" in row) fields.add(row.value);
    yield row;
    count += 1;
    if (count >= limit) return;
  }
}

/**
 * Reads a dataset and reports what it holds. Bad rows are part of the report.
 *
 * @example
 * const { rows, badRows, fields, duplicates } = await inspectDataset("train.parquet");
 *
 * @throws ConfigError when the source does not exist or cannot be read at all.
 */
export async function inspectDataset(
  source: DatasetSource<object>,
  options: InspectDatasetOptions = {},
): Promise<DatasetReport> {
  const { limit = Infinity, examples: shown = 3, onDownload } = options;
  const signal = options.signal ?? new AbortController().signal;
  const { folder = process.cwd(), option = "source" } = options;
  const where = { folder, option, signal, ...(onDownload === undefined ? {} : { onDownload }) };
  const { name, rows } = await openSource(source, where);
  const fields = new FieldCounter();
  const read = await readTasks(counted(rows, fields, limit), {
    name,
    fields: options.fields ?? null,
    map: null,
    skipBadRows: true,
    stopAfter: Infinity,
    signal,
    maxProblems: shown,
    mayBeEmpty: true,
  });
  const { tasks } = read;
  const duplicates = findDuplicates(tasks);
  const idOf = (index: number): string => tasks[index]!.id;
  return {
    rows: read.rows,
    tasks: tasks.length,
    badRows: read.badRows,
    problems: read.problems.map(({ message }) => message),
    fields: fields.report(),
    duplicates: {
      count: duplicates.length,
      examples: duplicates.slice(0, shown).map(({ index, other }) => ({
        id: idOf(index),
        duplicates: idOf(other),
      })),
    },
    examples: tasks.slice(0, shown),
  };
}
