/** Reads journals, also while they are written: a last line that is not complete, or was cut short, is passed over. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Line, readLines } from "../../datasets/files/json-lines-file.ts";
import { namingFile } from "../../core/file-error.ts";

/** Names of parts begin with this. */
const tracesName = "traces";
export const feedbackName = "feedback.jsonl";
export const rejectedName = "rejected.jsonl";

const part = /^traces-(\d{6})\.jsonl$/u;

/** `traces-000001.jsonl` */
export const partName = (number: number): string =>
  `${tracesName}-${String(number).padStart(6, "0")}.jsonl`;

/** [number, path] of the parts of a folder, in order; none where there is no folder. */
export function tracesParts(folder: string): readonly (readonly [number, string])[] {
  return namesIn(folder)
    .flatMap((name) => {
      const number = part.exec(name)?.[1];
      return number === undefined ? [] : [[Number(number), join(folder, name)] as const];
    })
    .toSorted(([a], [b]) => a - b);
}

export function namesIn(folder: string): readonly string[] {
  try {
    return namingFile({ path: folder }, () => readdirSync(folder));
  } catch (error) {
    if ((error as { cause?: { code?: string } }).cause?.code === "ENOENT") return [];
    throw error;
  }
}

export type JournalLine<T> =
  | { readonly record: T; readonly at: number; readonly bytes: number }
  /** A line that is not JSON: a kill cut it short before it was acknowledged. */
  | { readonly torn: Line };

/** The records of one file. */
export function* readJournal<T>(path: string): Generator<JournalLine<T>> {
  for (const line of readLines(path, false)) {
    if (line.text === "") continue;
    let record: T;
    try {
      record = JSON.parse(line.text) as T;
    } catch {
      yield { torn: line };
      continue;
    }
    yield { record, at: line.at, bytes: line.bytes };
  }
}
