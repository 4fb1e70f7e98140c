/** Tasks from wherever they are: files, modules, a hub, arrays and generators. */
import { resolve } from "node:path";
import { existsSync } from "node:fs";
import { ConfigError } from "../core/errors.ts";
import type { Dataset, MetadataOf, Task, TaskRow } from "../core/task.ts";
import type { PullProgress } from "../backends/local/index.ts";
import { endingOf, fileEndings, readFileRows } from "../datasets/files/read-file.ts";
import { requireFile } from "../datasets/files/require-file.ts";
import {
  formatHubName,
  isHubName,
  parseHubName,
  type HubDataset,
} from "../datasets/hub/hub-name.ts";
import { readHubRows } from "../datasets/hub/read-hub.ts";
import { type SourceRow, requireArray } from "../datasets/source-row.ts";
import { findDuplicates, withoutDuplicates } from "../datasets/overlap/overlap.ts";
import type { FieldMap } from "../datasets/tasks/map-fields.ts";
import { readTasks, type ReadTasks } from "../datasets/tasks/read-tasks.ts";
import { select, type SelectOptions } from "../datasets/tasks/select.ts";
import type { DatasetInput } from "../datasets/tasks/task.ts";
import { defined } from "../util/defined.ts";
import { loadExport, requireModule, splitSpec } from "./load-module.ts";

/**
 * Where tasks come from: a file (`train.jsonl`, `.json`, `.csv`, `.tsv`, `.parquet`), an export of a
 * module (`tasks.ts#tasks`), a dataset on a Hugging Face hub (`hf:openai/gsm8k/main:train`, or an
 * object), or rows in an array, a generator or another iterable.
 * @typeParam Row Type of the rows.
 */
export type DatasetSource<Row = Task | TaskRow> = string | HubDataset | DatasetInput<Row>;

/** Options of {@link loadDataset}. Rows are mapped, then deduplicated, shuffled, sharded and limited. */
export interface LoadDatasetOptions<Row = TaskRow> extends SelectOptions {
  /**
   * Fields of a task, and the field of the row that each is read from. Dots lead into maps and lists:
   * `{ instruction: "prompt.0.content", answer: "reward_model.ground_truth" }`. The row keeps its other
   * fields.
   */
  readonly fields?: FieldMap | null;
  /** Makes a task, or a row that can be read as one, from each row; null leaves the row out. */
  readonly map?: (row: Row, index: number) => object | null;
  /** Skip rows that cannot be used, and count them in a warning. @default false, which throws */
  readonly skipBadRows?: boolean;
  /** Remove tasks that an earlier task is the same as, but for case and white space. @default false */
  readonly deduplicate?: boolean;
  /** Folder that paths are relative to. @default the current folder */
  readonly folder?: string;
  /** The option that names the source, for messages. @default "source" */
  readonly option?: string;
  /** Called with what was skipped or removed. */
  readonly onWarning?: (message: string) => void;
  /** Called with the progress of a download from a hub. */
  readonly onDownload?: (progress: PullProgress) => void;
  readonly signal?: AbortSignal;
}

/** Rows with their locations, and what to call them. */
export interface OpenedSource {
  readonly name: string;
  readonly rows: AsyncIterable<SourceRow>;
}

/** What paths are relative to, and the option that names the source. */
type Where = Required<Pick<LoadDatasetOptions, "folder" | "option">>;

interface OpenOptions
  extends
    Where,
    Required<Pick<LoadDatasetOptions, "signal">>,
    Pick<LoadDatasetOptions, "onDownload"> {
  /** What rows that code passes are called. */
  readonly name?: string;
}

async function* numbered(rows: DatasetInput<unknown>, of: string): AsyncGenerator<SourceRow> {
  let number = 0;
  for await (const value of rows) yield { at: `row ${++number} of the ${of}`, value };
}

async function* listed(rows: readonly unknown[], at: string): AsyncGenerator<SourceRow> {
  for (const [index, value] of rows.entries()) yield { at: `${at}, row ${index + 1}`, value };
}

async function openModule(spec: string, { folder, option }: OpenOptions): Promise<OpenedSource> {
  const value = await loadExport({ spec, folder, option, defaults: ["tasks", "default"] });
  const rows: unknown = typeof value === "function" ? await (value as () => unknown)() : value;
  const name = `dataset ${spec}`;
  return isIterable(rows) && !Array.isArray(rows)
    ? { name, rows: numbered(rows, name) }
    : { name, rows: listed(requireArray(rows, spec), spec) };
}

function isIterable(value: unknown): value is DatasetInput<unknown> {
  if (typeof value !== "object" || value === null) return false;
  return Symbol.iterator in value || Symbol.asyncIterator in value;
}

const isHubDataset = (source: object): source is HubDataset =>
  "hub" in source && !isIterable(source);

function openHub(id: HubDataset, { signal, onDownload }: OpenOptions): OpenedSource {
  const options = { signal, ...(onDownload === undefined ? {} : { onProgress: onDownload }) };
  return { name: `dataset ${formatHubName(id)}`, rows: readHubRows(id, options) };
}

/**
 * The file that a text names, and whether it holds rows or is a module; null for a dataset on a hub.
 * @throws ConfigError for a file of an unknown format, or another name than a hub's after "hf:".
 */
function locateFile(
  source: string,
  { folder, option }: Where,
): { readonly file: string; readonly hasRows: boolean } | null {
  if (isHubName(source)) {
    parseHubName(source, option);
    return null;
  }
  const { path } = splitSpec(source, folder);
  const file = resolve(folder, path);
  const ending = endingOf(path);
  if (fileEndings.includes(ending)) return { file, hasRows: true };
  if (existsSync(file) && ending !== "" && !/^\.[cm]?[jt]sx?$/u.test(ending)) {
    throw new ConfigError({
      message: `${option} names ${file}, but ${ending} files are not supported.`,
      hint: `Use ${fileEndings.join(", ")}, or a module that exports the tasks: path#export.`,
      fields: { option, file },
    });
  }
  return { file, hasRows: false };
}

/**
 * Looks for what a text names, without reading it; a hub is not contacted.
 * @throws ConfigError for a file that does not exist or has an unknown format.
 */
export function checkSource(source: string, where: Where): void {
  const located = locateFile(source, where);
  if (located === null) return;
  if (located.hasRows) requireFile(located.file, where.option);
  else requireModule(located.file, where.option);
}

/** @throws ConfigError for a source that does not exist or has an unknown format. */
export async function openSource(
  source: DatasetSource<unknown>,
  options: OpenOptions,
): Promise<OpenedSource> {
  const { option, name = "dataset" } = options;
  if (typeof source !== "string") {
    return isHubDataset(source) ? openHub(source, options) : { name, rows: numbered(source, name) };
  }
  const located = locateFile(source, options);
  if (located === null) return openHub(parseHubName(source, option), options);
  if (!located.hasRows) return await openModule(source, options);
  return { name: `dataset ${source}`, rows: readFileRows(located.file, option) };
}

const rowsWord = (count: number): string => `${count} ${count === 1 ? "row" : "rows"}`;

function badRowWarning(name: string, { badRows, rows, problems }: ReadTasks): string {
  const examples = problems.map(({ message }) => message).join(" ");
  return `${badRows} of ${rowsWord(rows)} of the ${name} were skipped. ${examples}`;
}

/** {@link loadDataset} with the name that rows of code have in messages. */
export async function loadNamed(
  source: DatasetSource<unknown>,
  options: LoadDatasetOptions & { readonly name?: string },
): Promise<Dataset> {
  const { onWarning, deduplicate = false, limit = null, shuffle = false, shard = null } = options;
  const signal = options.signal ?? new AbortController().signal;
  const { folder = process.cwd(), option = "source", name: given } = options;
  const { onDownload } = options;
  const where = { folder, option, signal, ...defined({ name: given, onDownload }) };
  const { name, rows } = await openSource(source, where);
  const mayStopEarly = !shuffle && shard === null && !deduplicate;
  const { fields = null, map = null } = options;
  const read = await readTasks(rows, {
    name,
    fields,
    map,
    skipBadRows: options.skipBadRows === true,
    stopAfter: mayStopEarly ? (limit ?? Infinity) : Infinity,
    // Code holds these in memory anyway.
    ...(Array.isArray(source) ? { maxSize: Infinity } : {}),
    signal,
  });
  if (read.badRows > 0) onWarning?.(badRowWarning(name, read));
  let tasks: Dataset = read.tasks;
  if (deduplicate) {
    const duplicates = findDuplicates(tasks);
    if (duplicates.length > 0) {
      const { index, other } = duplicates[0] as (typeof duplicates)[0];
      onWarning?.(
        `${duplicates.length} of ${tasks.length} tasks of the ${name} were removed as duplicates; for example, task "${tasks.at(index)?.id}" duplicates task "${tasks.at(other)?.id}".`,
      );
    }
    tasks = withoutDuplicates(tasks, duplicates);
  }
  return select(tasks, { shuffle, shard, limit, ...defined({ seed: options.seed }) });
}

/**
 * Loads tasks from a file, a module or any iterable: maps fields, skips or refuses bad rows, removes
 * duplicates, shuffles, and keeps a part. Without options, rows are in the order of their source.
 * Tasks are held in memory: 1 GiB of them, as JSON, at most, unless code passes an array.
 *
 * @typeParam Row Type of the rows.
 *
 * @example
 * const tasks = await loadDataset("gsm8k.parquet", {
 *   fields: { instruction: "question", answer: "answer" },
 *   shuffle: true,
 *   seed: 42,
 *   limit: 1000,
 * });
 * const { train, val } = splitDataset(tasks, 0.1, 42);
 *
 * @throws ConfigError that names the file and the line, when a row cannot be used.
 */
export async function loadDataset<Row extends object = TaskRow>(
  source: DatasetSource<Row>,
  options: LoadDatasetOptions<Row> = {},
): Promise<Dataset<MetadataOf<Row>>> {
  // The type of the rows concerns the caller only.
  const untyped = options as unknown as LoadDatasetOptions;
  return (await loadNamed(source, untyped)) as Dataset<MetadataOf<Row>>;
}
