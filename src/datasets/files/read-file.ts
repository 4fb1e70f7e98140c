/** Rows of one file, by its ending. */
import { basename, extname } from "node:path";
import { ConfigError } from "../../core/errors.ts";
import { parseJson, plainRow, requireArray, sourceRow, type SourceRow } from "../source-row.ts";
import { readLines, checkDataFile, checkWholeFile } from "./json-lines-file.ts";
import { readParquet } from "./read-parquet.ts";
import { readTable, type Table } from "./read-table.ts";
import { requireFile } from "./require-file.ts";
import { closeSync, openSync, readFileSync, readSync } from "node:fs";

function encodingOf(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return "utf-8";
}

/** Whether the file starts with a UTF-16 byte-order mark. @throws ConfigError if it is not a regular file. */
function isUtf16(file: string): boolean {
  checkDataFile(file);
  const handle = openSync(file, "r");
  try {
    const start = Buffer.alloc(2);
    readSync(handle, start);
    return encodingOf(start) !== "utf-8";
  } finally {
    closeSync(handle);
  }
}

/** UTF-8, or UTF-16 with a byte-order mark, as Windows writes it. @throws ConfigError for others, and for too long ones */
function readText(file: string): string {
  checkWholeFile(file);
  const bytes = readFileSync(file);
  const encoding = encodingOf(bytes);
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ConfigError({
      message: `${file} is not ${encoding.toUpperCase()} text.`,
      hint: "Save it as UTF-8.",
      cause: error,
      fields: { file, encoding },
    });
  }
}

type Rows = Iterable<SourceRow> | AsyncIterable<SourceRow>;

function* readJsonLines(file: string): Generator<SourceRow> {
  const lines = isUtf16(file)
    ? readText(file)
        .split(/\r?\n/u)
        .map((text, index) => ({ text, number: index + 1 }))
    : readLines(file);
  for (const { text, number } of lines) {
    if (text.trim() === "") continue;
    const at = `${file}:${number}`;
    yield sourceRow(at, () => plainRow(parseJson(text, at), at));
  }
}

/** @throws ConfigError, which says so of a file with an object on each line. */
function parseList(text: string, file: string): unknown {
  try {
    return parseJson(text, file);
  } catch (error) {
    if (!/^\s*\{.*\}\s*\n\s*\{/u.test(text)) throw error;
    throw new ConfigError({
      message: `${file} holds a JSON object on each line, but a .json file must hold one list.`,
      hint: `Rename it to ${basename(file, extname(file))}.jsonl.`,
      cause: error,
      fields: { file },
    });
  }
}

function* readJsonList(file: string): Generator<SourceRow> {
  const rows = requireArray(parseList(readText(file), file), file);
  for (const [index, row] of rows.entries()) {
    const at = `${file}, row ${index + 1}`;
    yield sourceRow(at, () => plainRow(row, at));
  }
}

function* readTableRows(file: string, delimiter: "," | "\t"): Generator<SourceRow> {
  const { rows, lines, problems } = readTable(readText(file), file, delimiter);
  const bad = [...problems];
  for (const [index, value] of rows.entries()) {
    const line = lines[index] as number;
    while (bad[0] !== undefined && bad[0].line < line) yield badRow(file, bad.shift() as BadLine);
    yield { at: `${file}:${line}`, value };
  }
  for (const problem of bad) yield badRow(file, problem);
}

type BadLine = Table["problems"][number];

const badRow = (file: string, { line, problem }: BadLine): SourceRow => ({
  at: `${file}:${line}`,
  problem,
});

const readers: ReadonlyMap<string, (file: string) => Rows> = new Map<
  string,
  (file: string) => Rows
>([
  [".jsonl", readJsonLines],
  [".ndjson", readJsonLines],
  [".json", readJsonList],
  [".csv", (file: string) => readTableRows(file, ",")],
  [".tsv", (file: string) => readTableRows(file, "\t")],
  [".parquet", readParquet],
]);

/** Endings of files that can be read, with the dot. */
export const fileEndings: readonly string[] = [...readers.keys()];

export const endingOf = (path: string): string => extname(path).toLowerCase();

/**
 * Rows of a file whose ending is one of `fileEndings`.
 * @param option names the file, for the message of one that does not exist.
 */
export async function* readFileRows(file: string, option: string): AsyncGenerator<SourceRow> {
  requireFile(file, option);
  yield* (readers.get(endingOf(file)) as (file: string) => Rows)(file);
}
