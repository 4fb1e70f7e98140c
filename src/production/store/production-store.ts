/**
 * The folder of what came from production: `traces-*.jsonl`, `feedback.jsonl`, and in `rejected.jsonl` what could
 * not be read. Nothing in it is ever changed or deleted by this package.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "../../gateway/store/store-error.ts";
import { fileError } from "../../core/file-error.ts";
import { redact } from "../../util/redact.ts";
import { type Feedback, type FeedbackInput, toFeedback } from "./feedback.ts";
import { redactValues } from "../redact-values.ts";
import { Journal } from "./journal.ts";
import {
  feedbackName,
  namesIn,
  partName,
  readJournal,
  rejectedName,
  tracesParts,
} from "./read-journal.ts";
import type { Span } from "./span.ts";

/** What could not be read, kept aside. */
export interface Rejected {
  /** Where it came from: a file and line, or a request. */
  readonly at: string;
  readonly reason: string;
  /** Its beginning, without secrets. */
  readonly text: string;
}

/** Bounds of a store. */
export interface ProductionStoreOptions {
  /** Bytes of all files of the folder; what would exceed it is refused. @default 64 GiB */
  readonly maxBytes?: number;
  /** Bytes of a part of the traces, from which on the next is begun. @default 256 MiB */
  readonly partBytes?: number;
}

const keptText = 4096;

/** A folder of traces and feedback. Several processes may add to one. */
export class ProductionStore implements AsyncDisposable {
  readonly folder: string;
  readonly #maxBytes: number;
  readonly #partBytes: number;
  readonly #feedback: Journal;
  readonly #rejected: Journal;
  #traces: Journal;
  #part: number;
  #bytes: number;
  /** Parts that are complete, until what was appended to them is on the disk. */
  readonly #closing = new Set<Promise<void>>();

  constructor(folder: string, options: ProductionStoreOptions = {}) {
    this.folder = folder;
    this.#maxBytes = options.maxBytes ?? 64 * 2 ** 30;
    this.#partBytes = options.partBytes ?? 256 * 2 ** 20;
    this.#feedback = new Journal(join(folder, feedbackName));
    this.#rejected = new Journal(join(folder, rejectedName));
    const last = tracesParts(folder).at(-1);
    this.#part = last?.[0] ?? 1;
    this.#traces = new Journal(join(folder, partName(this.#part)));
    this.#bytes = bytesOf(folder);
    this.#partUsed = last === undefined ? 0 : sizeOf(last[1]);
  }

  /** Of the part that is written, with what is still on its way to the disk. */
  #partUsed: number;

  /** Bytes of all files, as far as this process knows. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Resolves when all are on the disk, without the secrets of their texts. @throws StoreError */
  addSpans(spans: readonly Span[]): Promise<void> {
    const bytes = linesOf(redactValues(spans));
    if (this.#partUsed > 0 && this.#partUsed + bytes.length > this.#partBytes) this.#nextPart();
    this.#partUsed += bytes.length;
    return this.#add(this.#traces, bytes);
  }

  /**
   * All of them or none. Resolves when they are on the disk.
   * @throws AgentTrainerError `REQUEST_INVALID` for what is no feedback; StoreError
   */
  async addFeedback(given: readonly FeedbackInput[]): Promise<readonly Feedback[]> {
    const records = given.map((one) => toFeedback(one));
    await this.#add(this.#feedback, linesOf(records));
    return records;
  }

  /** Keeps aside what could not be read, shortened and without secrets. */
  async reject(rejected: readonly Rejected[]): Promise<void> {
    const kept = rejected.map(({ text, ...about }) => ({
      ...about,
      text: redact(text.slice(0, keptText)),
    }));
    await this.#add(this.#rejected, linesOf(kept));
  }

  /** Resolves when all that was added is on the disk. Idempotent. */
  async close(): Promise<void> {
    await Promise.all([this.#traces, this.#feedback, this.#rejected].map((one) => one.close()));
    await Promise.all(this.#closing);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #add(journal: Journal, bytes: Buffer): Promise<void> {
    if (bytes.length === 0) return;
    if (this.#bytes + bytes.length > this.#maxBytes) {
      throw new StoreError(
        "full",
        `${this.folder} has ${this.#bytes} bytes, and ${this.#maxBytes} is its limit.`,
      );
    }
    this.#bytes += bytes.length;
    try {
      await journal.appendLines(bytes);
    } catch (error) {
      this.#bytes -= bytes.length;
      const { code } = error as NodeJS.ErrnoException;
      const reason = code === "ENOSPC" || code === "EDQUOT" ? "full" : "io";
      const what = fileError(error, { path: journal.path })?.message ?? String(error);
      throw new StoreError(reason, what, error);
    }
  }

  #nextPart(): void {
    const closing = this.#traces.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
    this.#traces = new Journal(join(this.folder, partName(++this.#part)));
    this.#partUsed = 0;
  }
}

const linesOf = (records: readonly unknown[]): Buffer =>
  Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(""));

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

const bytesOf = (folder: string): number =>
  namesIn(folder).reduce((sum, name) => sum + sizeOf(join(folder, name)), 0);

/** The spans of a folder in the order of arrival; an exporter that got no answer has sent some twice. */
export function readSpans(folder: string): Generator<Span> {
  return recordsOf(tracesParts(folder).map(([, path]) => path));
}

/** The feedback of a folder, in the order of arrival. */
export function readFeedback(folder: string): Generator<Feedback> {
  const isThere = namesIn(folder).includes(feedbackName);
  return recordsOf(isThere ? [join(folder, feedbackName)] : []);
}

function* recordsOf<T>(paths: readonly string[]): Generator<T> {
  for (const path of paths)
    for (const line of readJournal<T>(path)) if ("record" in line) yield line.record;
}
