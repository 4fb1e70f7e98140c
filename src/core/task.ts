/** What is to be done, and where tasks come from. */

/** One task of a dataset. */
export interface Task<Metadata = Record<string, unknown>> {
  /** Any string; unique within its dataset. */
  readonly id: string;
  /** What the agent is to do. */
  readonly instruction: string;
  /** The whole row: reference answers and whatever else the flow and the evaluator need. */
  readonly metadata: Metadata;
}

/**
 * A row of a dataset: an object with an `instruction` or a `question` and, optionally, an `id` or a
 * `task_id` (its index by default). The whole row becomes `task.metadata`. A `Task` is a row, too.
 */
export type TaskRow = Record<string, unknown>;

/**
 * Type of `task.metadata` for rows of this type: the metadata of a `Task`, and of any other row the row
 * itself.
 * @typeParam Row Type of the dataset's rows.
 */
export type MetadataOf<Row> = Row extends {
  readonly id: string;
  readonly instruction: string;
  readonly metadata: infer Metadata extends object;
}
  ? Metadata
  : Row;

/**
 * Tasks with random access, in their own order; the trainer shuffles. An array is one, and so is what
 * `loadDataset` returns.
 */
export interface Dataset<Metadata = Record<string, unknown>> extends Iterable<Task<Metadata>> {
  readonly length: number;
  /** The task at a position from 0. */
  at(index: number): Task<Metadata> | undefined;
}
