/** Tasks for the command line: `.jsonl` and `.json` files, or a module's export. */
import { existsSync, readFileSync } from "node:fs";
import { extname, resolve } from "node:path";
import { ConfigError } from "../core/errors.ts";
import type { Task } from "../core/task.ts";
import { readDataset } from "../trainer/task.ts";
import { loadExport, splitSpec } from "./load-module.ts";

interface Rows {
  readonly rows: readonly unknown[];
  /** Where row i stands. */
  readonly locate: (index: number) => string;
}

function parseJson(text: string, at: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConfigError({
      message: `${at}: not valid JSON: ${(error as Error).message}.`,
      cause: error,
      fields: { at },
    });
  }
}

function readJsonLines(file: string): Rows {
  const rows: unknown[] = [];
  const lineNumbers: number[] = [];
  readFileSync(file, "utf8")
    .split(/\r?\n/u)
    .forEach((line, index) => {
      if (line.trim() === "") return;
      rows.push(parseJson(line, `${file}:${index + 1}`));
      lineNumbers.push(index + 1);
    });
  return { rows, locate: (index) => `${file}:${lineNumbers[index] ?? "?"}` };
}

function requireArray(value: unknown, at: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new ConfigError({
    message: `${at} must hold a list of tasks; got ${value === null ? "null" : typeof value}.`,
    hint: "Use a list of rows with an instruction each, or one JSON object per line in a .jsonl file.",
    fields: { at },
  });
}

async function readRows(spec: string, folder: string, option: string): Promise<Rows> {
  const { path } = splitSpec(spec, folder);
  const file = resolve(folder, path);
  const kind = extname(path);
  if ((kind === ".jsonl" || kind === ".json") && !existsSync(file)) {
    throw new ConfigError({
      message: `${option} names ${file}, which does not exist.`,
      hint: "Paths are relative to the configuration file.",
      fields: { option, file },
    });
  }
  if (kind === ".jsonl") return readJsonLines(file);
  const value =
    kind === ".json"
      ? parseJson(readFileSync(file, "utf8"), file)
      : await loadExport({ spec, folder, option, defaults: ["tasks", "default"] });
  return { rows: requireArray(value, spec), locate: (index) => `${spec}, row ${index + 1}` };
}

/**
 * Reads a data set.
 * @throws ConfigError with file and line of what is wrong.
 */
export async function loadDataset(spec: string, folder: string, option: string): Promise<Task[]> {
  const { rows, locate } = await readRows(spec, folder, option);
  return await readDataset(rows as Iterable<Task>, `data set ${spec}`, locate);
}
