/**
 * Lines of records as text and as bytes of a file. A record that is large holds calls with their tokens; those are
 * kept out of its text as parts, so that another thread can turn them into text.
 */
import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { namingFile } from "../core/file-error.ts";
import { gzipBlockSync } from "../util/files/gzip-blocks.ts";
import { renameSync } from "../util/files/rename.ts";
import { toLine } from "./json-lines.ts";

export type Compression = "none" | "gzip";

/** Ending of the names of files of records. */
export const recordEnding = (compression: Compression): string =>
  compression === "gzip" ? ".jsonl.gz" : ".jsonl";

/** A record whose parts are not text yet. */
export interface PlannedLine {
  /** JSON in which `{mark}:{index}` as a string stands for a part. */
  readonly text: string;
  readonly parts: readonly unknown[];
}

/** A file that replaces the one of its name. */
export interface PlannedFile {
  readonly path: string;
  readonly compression: Compression;
  /** No string of a user contains it. */
  readonly mark: string;
  readonly lines: readonly PlannedLine[];
}

const mark = randomUUID();

const isView = (value: unknown): value is ArrayBufferView =>
  ArrayBuffer.isView(value) && !(value instanceof DataView);

/** Array of the size that it says: a view of a larger one would be copied with all of that. */
function compact(value: unknown): unknown {
  if (!isView(value) || value.byteLength === value.buffer.byteLength) return value;
  return (value as Int32Array | Float32Array).slice();
}

/** What the gateway captured of a call: most of an episode, and plain data. */
const isTrace = (key: string, value: unknown): value is object =>
  key === "trace" && isView((value as { readonly promptIds?: unknown } | null)?.promptIds);

/** What a user's code put into the record becomes text here, by its own rules. */
export function planLine(value: unknown): PlannedLine {
  const parts: unknown[] = [];
  const keep = (part: unknown): string => `${mark}:${parts.push(part) - 1}`;
  const text = JSON.stringify(value, (key, part: unknown) => {
    if (isView(part)) return keep(compact(part));
    if (!isTrace(key, part)) return part;
    const fields = Object.entries(part).map(([name, one]) => [name, compact(one)] as const);
    return keep(Object.fromEntries(fields));
  });
  return { text, parts };
}

/** All of it becomes text where it is written. @param value plain data */
export const planPlain = (value: object): PlannedLine => ({
  text: JSON.stringify(`${mark}:0`),
  parts: [value],
});

export const planFile = (
  path: string,
  compression: Compression,
  lines: readonly PlannedLine[],
): PlannedFile => ({ path, compression, mark, lines });

/** Uncompressed bytes of a member of a compressed file. */
const blockBytes = 2 ** 20;

function* blocks({ compression, mark: used, lines }: PlannedFile): Generator<Uint8Array> {
  const places = new RegExp(`"${used}:(\\d+)"`, "gu");
  let waiting: Buffer[] = [];
  let bytes = 0;
  const pack = (): Buffer => {
    const content = Buffer.concat(waiting);
    [waiting, bytes] = [[], 0];
    return gzipBlockSync(content);
  };
  for (const { text, parts } of lines) {
    const whole = text.replaceAll(places, (_match, index: string) =>
      toLine(parts[Number(index)]).slice(0, -1),
    );
    const line = Buffer.from(`${whole}\n`);
    if (compression === "none") {
      yield line;
      continue;
    }
    waiting.push(line);
    bytes += line.length;
    if (bytes >= blockBytes) yield pack();
  }
  if (bytes > 0) yield pack();
}

function writeAll(file: number, bytes: Uint8Array): void {
  for (let from = 0; from < bytes.length;) from += writeSync(file, bytes, from);
}

/** Ending of the name of a file until it is complete; with `.rest`, where a thread could not finish it. */
export const isIncomplete = (name: string): boolean => /\.(?:incomplete|rest)$/u.test(name);

export interface WriteOptions {
  /** Wait until it is on the disk itself. @default false */
  readonly isSynced?: boolean;
  /** @default "incomplete" */
  readonly ending?: "incomplete" | "rest";
}

/** Replaces the file when all of it is written: what was there before a kill is there after it. */
export function writePlanned(
  file: PlannedFile,
  { isSynced = false, ending = "incomplete" }: WriteOptions = {},
): void {
  const { path } = file;
  const temporary = `${path}.${ending}`;
  namingFile({ path }, () => {
    const handle = openSync(temporary, "w");
    try {
      for (const bytes of blocks(file)) writeAll(handle, bytes);
      if (isSynced) fsyncSync(handle);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    } finally {
      closeSync(handle);
    }
    renameSync(temporary, path);
  });
}
