/** Several datasets as one: the tasks of each, one after another, with the name of their source. */
import type { Dataset, Task } from "../../core/task.ts";

/** One dataset of several. */
export interface TaskPart {
  /** Of the source; `metadata.data_source` of its tasks. */
  readonly name: string;
  /** Its share of the tasks of a step, relative to the others'. Above 0. */
  readonly weight: number;
  readonly tasks: Dataset;
}

export class MixedTasks implements Dataset {
  readonly parts: readonly TaskPart[];
  readonly #tasks: readonly Task[];

  constructor(parts: readonly TaskPart[]) {
    this.parts = parts;
    this.#tasks = parts.flatMap(({ name, tasks }) =>
      Array.from(tasks, (task) => ofSource(name, task)),
    );
  }

  get length(): number {
    return this.#tasks.length;
  }

  at(index: number): Task | undefined {
    return this.#tasks.at(index);
  }

  [Symbol.iterator](): Iterator<Task> {
    return this.#tasks[Symbol.iterator]();
  }
}

/** Ids are unique within a dataset only. */
const ofSource = (name: string, { id, instruction, metadata }: Task): Task => ({
  id: `${name}/${id}`,
  instruction,
  metadata: { ...metadata, data_source: name },
});
