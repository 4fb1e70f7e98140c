/** What is to be done, and where tasks come from. */

/** One task of a dataset. */
export interface Task<Metadata = Record<string, unknown>> {
  /** Any string; unique within its dataset. */
  readonly id: string;
  /** What the agent is to do. */
  readonly instruction: string;
  /** The whole row: gold answers and whatever else the flow and the evaluator need. */
  readonly metadata: Metadata;
}

/** A row as a user writes it; see `toTask` for how it becomes a `Task`. */
export type TaskRow = Readonly<Record<string, unknown>>;

/** Tasks with random access: an array does. Keeps the dataset's order; the trainer shuffles. */
export type Dataset<Metadata = Record<string, unknown>> = readonly Task<Metadata>[];
