/** Tasks for the command line: `.jsonl`, `.json`, `.csv` and `.tsv` files, or a module's export. */
import { existsSync } from "node:fs";
import { extname, resolve } from "node:path";
import { AgentTrainerError, ConfigError } from "../../core/errors.ts";
import type { Task } from "../../core/task.ts";
import { readDataset } from "../../trainer/rollouts/task.ts";
import { readLines } from "./json-lines-file.ts";
import { loadExport, splitSpec } from "./load-module.ts";
import { readTable } from "./read-table.ts";
import { isUtf16, readText } from "./read-text.ts";

interface Rows {
  readonly rows: readonly unknown[];
  /** Location of row i. */
  readonly locate: (index: number) => string;
}

function checked(key: string, value: unknown, at: string): unknown {
  if (key !== "__proto__") return value;
  throw new ConfigError({
    message: `${at}: a row must not have the key "__proto__".`,
    hint: "Rename it: copying such a row would lose or change it.",
    fields: { at },
  });
}

function parseJson(text: string, at: string): unknown {
  try {
    // A reviver costs more than reading; the name may be written with escapes.
    const isSuspect = text.includes("__proto__") || text.includes("\\u005");
    return isSuspect
      ? JSON.parse(text, (key, value: unknown) => checked(key, value, at))
      : JSON.parse(text);
  } catch (error) {
    if (AgentTrainerError.isInstance(error)) throw error;
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
  const lines = isUtf16(file)
    ? readText(file)
        .split(/\r?\n/u)
        .map((text, index) => ({ text, number: index + 1 }))
    : readLines(file);
  for (const { text, number } of lines) {
    if (text.trim() === "") continue;
    rows.push(parseJson(text, `${file}:${number}`));
    lineNumbers.push(number);
  }
  return { rows, locate: (index) => `${file}:${lineNumbers[index] ?? "?"}` };
}

function requireArray(value: unknown, at: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new ConfigError({
    message: `${at} must contain a list of tasks; got ${value === null ? "null" : typeof value}.`,
    hint: "Use a list of rows with an instruction each, or one JSON object per line in a .jsonl file.",
    fields: { at },
  });
}

function readTableRows(file: string, delimiter: "," | "\t"): Rows {
  const { rows, lines } = readTable(readText(file), file, delimiter);
  return { rows, locate: (index) => `${file}:${lines[index] ?? "?"}` };
}

function readJsonList(file: string, spec: string): Rows {
  const rows = requireArray(parseJson(readText(file), file), spec);
  return { rows, locate: (index) => `${spec}, row ${index + 1}` };
}

const readers: ReadonlyMap<string, (file: string, spec: string) => Rows> = new Map([
  [".jsonl", readJsonLines],
  [".ndjson", readJsonLines],
  [".json", readJsonList],
  [".csv", (file: string) => readTableRows(file, ",")],
  [".tsv", (file: string) => readTableRows(file, "\t")],
]);

async function readRows(spec: string, folder: string, option: string): Promise<Rows> {
  const { path } = splitSpec(spec, folder);
  const file = resolve(folder, path);
  const kind = extname(path).toLowerCase();
  const read = readers.get(kind);
  if (read !== undefined && !existsSync(file)) {
    throw new ConfigError({
      message: `${option} names ${file}, which does not exist.`,
      hint: "Paths are relative to the configuration file.",
      fields: { option, file },
    });
  }
  if (read !== undefined) return read(file, spec);
  if (existsSync(file) && kind !== "" && !/^\.[cm]?[jt]sx?$/u.test(kind)) {
    throw new ConfigError({
      message: `${option} names ${file}, but ${kind} files are not supported.`,
      hint: `Use ${[...readers.keys()].join(", ")}, or a module that exports the tasks: path#export.`,
      fields: { option, file },
    });
  }
  const value = await loadExport({ spec, folder, option, defaults: ["tasks", "default"] });
  return { rows: requireArray(value, spec), locate: (index) => `${spec}, row ${index + 1}` };
}

/**
 * Reads a dataset.
 * @throws ConfigError with the file and line of the problem.
 */
export async function loadDataset(spec: string, folder: string, option: string): Promise<Task[]> {
  const { rows, locate } = await readRows(spec, folder, option);
  return await readDataset(rows as Iterable<Task>, `dataset ${spec}`, locate);
}
