/**
 * Tasks that must stay solved, as a JSONL file that only grows. Next to it, a receipt of what was read from it
 * before: a task that is gone or changed is refused, lines that were added are taken.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { ConfigError } from "../../core/errors.ts";
import { namingFile } from "../../core/file-error.ts";
import type { Task } from "../../core/task.ts";
import { toTask } from "../../datasets/tasks/task.ts";
import { writeFileAtomicSync } from "../../util/files/atomic-write.ts";

interface Receipt {
  readonly tasks: number;
  readonly sha256: string;
}

const receiptOf = (path: string): string => `${path}.receipt.json`;

const hashOf = (lines: readonly string[]): string =>
  createHash("sha256").update(lines.join("\n")).digest("hex");

/** Without what an editor or version control does to line ends. */
function linesOf(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  const text = namingFile({ path }, () => readFileSync(path, "utf8"));
  return text.split(/\r?\n/u).filter((line) => line.trim() !== "");
}

function writeReceipt(path: string, lines: readonly string[]): void {
  const receipt: Receipt = { tasks: lines.length, sha256: hashOf(lines) };
  const file = receiptOf(path);
  namingFile({ path: file }, () => writeFileAtomicSync(file, `${JSON.stringify(receipt)}\n`));
}

/** @throws ConfigError when tasks are missing that were there before. */
function checkReceipt(path: string, lines: readonly string[]): void {
  const file = receiptOf(path);
  if (!existsSync(file)) return;
  let receipt: Partial<Receipt>;
  try {
    receipt = JSON.parse(readFileSync(file, "utf8")) as Partial<Receipt>;
  } catch {
    receipt = {};
  }
  const { tasks = Number.NaN, sha256 } = receipt;
  if (tasks <= lines.length && hashOf(lines.slice(0, tasks)) === sha256) return;
  throw new ConfigError({
    message: `${path} has ${lines.length} tasks, and the first ${tasks} are not those that were recorded in it: regression tasks are never removed or changed.`,
    hint: `Restore the file, and add tasks at its end. Where the change is meant, delete ${file}, too.`,
    fields: { path },
  });
}

function parse(path: string, lines: readonly string[]): readonly Task[] {
  const ids = new Set<string>();
  return lines.map((line, index) => {
    const at = `${path}:${index + 1}`;
    let row: unknown;
    try {
      row = JSON.parse(line);
    } catch (error) {
      throw new ConfigError({
        message: `${at} is not valid JSON.`,
        hint: "Write one task per line: an object with id, instruction and metadata.",
        cause: error,
        fields: { path },
      });
    }
    const task = toTask(row, index, at);
    if (!ids.has(task.id)) ids.add(task.id);
    else throw new ConfigError({ message: `${at}: the id ${task.id} is there twice.` });
    return task;
  });
}

/**
 * The tasks of a regression set; none where the file does not exist.
 * @throws ConfigError when tasks that were there before are missing, or a line is no task.
 */
export function readRegressions(path: string): readonly Task[] {
  const lines = linesOf(path);
  checkReceipt(path, lines);
  const tasks = parse(path, lines);
  if (lines.length > 0) writeReceipt(path, lines);
  return tasks;
}

/**
 * Adds tasks at the end of a regression set; those whose id is in it already are left out.
 * @returns how many were added.
 * @throws ConfigError as {@link readRegressions}.
 */
export function addRegressions(path: string, tasks: Iterable<Task>): number {
  const ids = new Set(readRegressions(path).map(({ id }) => id));
  const added: string[] = [];
  for (const { id, instruction, metadata } of tasks) {
    if (ids.has(id)) continue;
    ids.add(id);
    added.push(JSON.stringify({ id, instruction, metadata }));
  }
  if (added.length === 0) return 0;
  const lines = [...linesOf(path), ...added];
  namingFile({ path }, () => writeFileAtomicSync(path, `${lines.join("\n")}\n`));
  writeReceipt(path, lines);
  return added.length;
}
