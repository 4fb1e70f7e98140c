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
  readonly length: number;

  constructor(parts: readonly TaskPart[]) {
    this.parts = parts;
    this.length = parts.reduce((sum, { tasks }) => sum + tasks.length, 0);
  }

  at(index: number): Task | undefined {
    let first = 0;
    for (const { name, tasks } of this.parts) {
      const task = index < first + tasks.length ? tasks.at(index - first) : undefined;
      if (task !== undefined) return ofSource(name, task);
      first += tasks.length;
    }
    return undefined;
  }

  *[Symbol.iterator](): Iterator<Task> {
    for (const { name, tasks } of this.parts) for (const task of tasks) yield ofSource(name, task);
  }
}

/** Ids are unique within a dataset only. */
const ofSource = (name: string, { id, instruction, metadata }: Task): Task => ({
  id: `${name}/${id}`,
  instruction,
  metadata: { ...metadata, data_source: name },
});
