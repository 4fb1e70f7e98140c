/** Whether two configurations and datasets make the same run: what a resumed run must have in common. */
import { createHash } from "node:crypto";
import { CheckpointError } from "../core/errors.ts";
import type { ConfigChange } from "../core/events.ts";
import type { Dataset, Task } from "../core/task.ts";
import type { Tree } from "../config/camel-keys.ts";
import { type ConfigField, configFields } from "../config/fields.ts";
import { optionValue } from "../config/option-types.ts";
import { configTree } from "../config/parse.ts";
import { valueAt } from "../config/tree.ts";
import { redactOptions } from "../util/redact.ts";
import type { TrainConfig } from "../config/train-config.ts";

/** Options that may change when a run is resumed, as marked in the schema. */
export const freeOptions = (): readonly string[] =>
  configFields().flatMap(({ key, resume }) => (resume === "free" ? [key] : []));

const fixedKeys = (): string[] =>
  configFields().flatMap(({ key, resume }) => (resume === "free" ? [] : [key]));

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Hash of the options that decide what the run computes. */
export function hashConfig(config: TrainConfig): string {
  const tree = configTree(config);
  return sha256(JSON.stringify(fixedKeys().map((key) => [key, valueAt(tree, key)])));
}

export const otherTasksError = (folder: string): CheckpointError =>
  new CheckpointError({
    message: `The run in ${folder} was trained on other tasks: ids, instructions or their order differ.`,
    hint: "Use the same training data, or start a new run.",
    fields: { path: folder },
  });

/** Hash of the tasks' ids and instructions, in order, and of their ranks where those are given. */
export function hashDataset(tasks: Dataset, rank?: (task: Task) => number): string {
  // The hash of one JSON list, which for a large dataset would be longer than a string may be.
  const hash = createHash("sha256").update("[");
  let separator = "";
  for (const task of tasks) {
    const facts = [task.id, task.instruction, ...(rank === undefined ? [] : [rank(task)])];
    hash.update(`${separator}${JSON.stringify(facts)}`);
    separator = ",";
  }
  return hash.update("]").digest("hex");
}

/** The value in an earlier run; an option that it did not have was at its default. */
function valueBefore(before: Tree, { key, default: standard, inherits }: ConfigField): unknown {
  const source = configFields().find((field) => field.key === inherits);
  return valueAt(before, key) ?? (source === undefined ? standard : valueBefore(before, source));
}

/** Every option that differs from the earlier run. */
export function configChanges(before: Tree, config: TrainConfig): readonly ConfigChange[] {
  // What is on disk has no keys, and another key makes no other run.
  const now = redactOptions(configTree(config));
  const then = redactOptions(before);
  return configFields().flatMap((field) => {
    const change = {
      option: field.key,
      before: valueBefore(then, field),
      after: optionValue(now, field),
    };
    return JSON.stringify(change.before) === JSON.stringify(change.after)
      ? []
      : [{ ...change, isFixed: field.resume !== "free" }];
  });
}

const listed = (changes: readonly ConfigChange[]): string =>
  changes
    .map(
      ({ option, before, after }) =>
        `${option} was ${JSON.stringify(before)} and is ${JSON.stringify(after)}`,
    )
    .join("; ");

/**
 * @param allowChanges permits changes of options that decide what the run computes.
 * @throws CheckpointError naming each option that may not change.
 */
export function checkChanges(
  changes: readonly ConfigChange[],
  folder: string,
  allowChanges: boolean,
): void {
  const never = new Set(
    configFields().flatMap(({ key, resume }) => (resume === "never" ? [key] : [])),
  );
  const impossible = changes.filter(({ option }) => never.has(option));
  if (impossible.length > 0) {
    throw new CheckpointError({
      message: `The run in ${folder} cannot be resumed with another configuration: ${listed(impossible)}. Its checkpoints have no meaning there.`,
      hint: "Use the same values, or start a new run.",
      fields: { folder, differences: impossible },
    });
  }
  const fixed = changes.filter(({ isFixed }) => isFixed);
  if (fixed.length === 0 || allowChanges) return;
  throw new CheckpointError({
    message: `The run in ${folder} cannot be resumed with another configuration: ${listed(fixed)}.`,
    hint: "Use the same values, start a new run, or allow it with --allow-changes (in code: allowChanges: true), which records the change in events.jsonl. Options of speed, limits, learning rate and validation may change freely: see docs/configuration.md#resuming.",
    fields: { folder, differences: fixed },
  });
}
