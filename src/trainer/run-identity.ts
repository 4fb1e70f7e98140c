/** Whether two configurations and data sets make the same run: what a resumed run must have in common. */
import { createHash } from "node:crypto";
import { CheckpointError } from "../core/errors.ts";
import type { Task } from "../core/task.ts";
import type { Tree } from "./config/camel-keys.ts";
import { configFields } from "./config/fields.ts";
import { configTree } from "./config/parse.ts";
import { valueAt } from "./config/tree.ts";
import type { TrainConfig } from "./config/train-config.ts";

/**
 * Options that may change when a run continues: its length, how often it reports, where it lies,
 * how much of it is remembered. A learning-rate schedule follows the new length from there on.
 */
export const changeableOptions: readonly string[] = [
  "trainer.total_epochs",
  "trainer.total_batches",
  "trainer.test_freq",
  "trainer.val_before_train",
  "trainer.val_only",
  "trainer.save_freq",
  "trainer.project_name",
  "trainer.experiment_name",
  "trainer.output_dir",
  "trainer.keep_checkpoints",
  "trainer.keep_best",
  "workflow.n_parallel_tasks",
  "local.cache_memory_mib",
];

const fixedKeys = (): string[] =>
  configFields()
    .map((field) => field.key)
    .filter((key) => !changeableOptions.includes(key));

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Hash of the options that decide what the run computes. */
export function hashConfig(config: TrainConfig): string {
  const tree = configTree(config);
  return sha256(JSON.stringify(fixedKeys().map((key) => [key, valueAt(tree, key)])));
}

/** Hash of the tasks' ids and instructions, in order, and of their ranks where a curriculum uses them. */
export function hashDataset(tasks: readonly Task[], rank?: (task: Task) => number): string {
  const facts = tasks.map((task) => [
    task.id,
    task.instruction,
    ...(rank === undefined ? [] : [rank(task)]),
  ]);
  return sha256(JSON.stringify(facts));
}

/**
 * An option that the earlier run did not know was at its default.
 * @throws CheckpointError naming each option that differs from the earlier run.
 */
export function checkSameConfig(before: Tree, config: TrainConfig, folder: string): void {
  const now = configTree(config);
  const defaults = new Map(configFields().map((field) => [field.key, field.default]));
  const valueBefore = (key: string): unknown => valueAt(before, key) ?? defaults.get(key);
  const differences = fixedKeys()
    .map((key) => ({ key, before: valueBefore(key), now: valueAt(now, key) }))
    .filter((entry) => JSON.stringify(entry.before) !== JSON.stringify(entry.now));
  if (differences.length === 0) return;
  const list = differences
    .map((d) => `${d.key} was ${JSON.stringify(d.before)} and is ${JSON.stringify(d.now)}`)
    .join("; ");
  throw new CheckpointError({
    message: `The run in ${folder} cannot be continued with another configuration: ${list}.`,
    hint: `Use the same values, or start a new run. What may change: ${changeableOptions.join(", ")}.`,
    fields: { folder, differences },
  });
}
