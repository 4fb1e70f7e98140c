/** The order of tasks by difficulty, as given in their metadata. */
import { ConfigError } from "../../core/errors.ts";
import type { Task } from "../../core/task.ts";
import type { TrainConfig } from "../../config/train-config.ts";

/** `rank` of `createBatchPlan`, or nothing without a curriculum. */
export function curriculumRank({ data }: Pick<TrainConfig, "data">): {
  readonly rank?: (task: Task) => number;
} {
  const { curriculum, difficultyKey } = data;
  if (curriculum === "none") return {};
  const sign = curriculum === "easy_first" ? 1 : -1;
  return { rank: (task) => sign * difficultyOf(task, difficultyKey) };
}

/** @throws ConfigError when the task has no such number. */
function difficultyOf(task: Task, key: string): number {
  const value = task.metadata[key];
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new ConfigError({
    message: `data.curriculum needs a number in metadata.${key} of every training task, but that of task "${task.id}" is ${JSON.stringify(value) ?? "missing"}.`,
    hint: "Add it to the data, name another field in data.difficulty_key, or set data.curriculum=none.",
    fields: { taskId: task.id, key, value },
  });
}
