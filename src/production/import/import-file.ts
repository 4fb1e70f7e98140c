/** Files of other programs into a store: a row at a time, in memory that does not grow with the file. */
import { readFileSync } from "node:fs";
import { checkWholeFile, readLines } from "../../datasets/files/json-lines-file.ts";
import { isJsonObject } from "../../util/json-object.ts";
import { readJsonRequest } from "../otlp/read-json.ts";
import { type CollectCounts, interpretAll, keepSpans } from "../receiver/keep-otlp.ts";
import { type FeedbackInput, toFeedback } from "../store/feedback.ts";
import { KnownFeedback } from "../store/known-feedback.ts";
import { type ProductionStore, readFeedback, type Rejected } from "../store/production-store.ts";
import type { Span } from "../store/span.ts";
import { readBraintrust } from "./braintrust.ts";
import { parseValue, valueText } from "../messages/exact-values.ts";
import type { RowReader } from "./export-row.ts";
import { readHelicone } from "./helicone.ts";
import { readLangfuse } from "./langfuse.ts";
import { readLangSmith } from "./langsmith.ts";
import { readOpenAiChat } from "./openai-chat.ts";

const readers = {
  braintrust: readBraintrust,
  helicone: readHelicone,
  langfuse: readLangfuse,
  langsmith: readLangSmith,
  openai: readOpenAiChat,
} as const satisfies Readonly<Record<string, RowReader>>;

/** Formats of files; `feedback` has a record of feedback in each row. */
export const importFormats: readonly string[] = [...Object.keys(readers), "otel", "feedback"];

interface Row {
  readonly text: string;
  readonly at: string;
}

/** A `.json` file has one value, or a list of rows; others a row per line. */
function* rowsOf(file: string): Generator<Row> {
  if (!file.endsWith(".json")) {
    for (const { text, number } of readLines(file, false))
      if (text.trim() !== "") yield { text, at: `${file}:${number}` };
    return;
  }
  checkWholeFile(file);
  const text = readFileSync(file, "utf8");
  let value: unknown;
  try {
    value = parseValue(text);
  } catch {
    yield { text, at: file };
    return;
  }
  const list = Array.isArray(value) ? (value as unknown[]) : [value];
  for (const [i, one] of list.entries()) yield { text: valueText(one), at: `${file}[${i}]` };
}

interface Read {
  readonly spans?: readonly Span[];
  readonly feedback?: readonly FeedbackInput[];
  readonly rejected?: readonly Rejected[];
}

const maxSpansOfRow = 1_000_000;

/** @throws Error with the reason why the row cannot be read. */
function readRow({ text, at }: Row, { format, rating }: ImportFileOptions): Read {
  const row = parseValue(text);
  if (!isJsonObject(row)) throw new Error("it is not an object");
  const reader = (readers as Readonly<Record<string, RowReader>>)[format];
  if (reader !== undefined) return reader(row, rating);
  if (format === "feedback") {
    toFeedback(row);
    return { feedback: [row] };
  }
  return interpretAll(readJsonRequest(row, maxSpansOfRow), at);
}

/** Characters of rows that are written together: a sync for each would take most of the time. */
const batchChars = 4 * 2 ** 20;

/** What was read of some rows, and is not written yet. */
class Batch {
  #spans: Span[] = [];
  #feedback: FeedbackInput[] = [];
  #rejected: Rejected[] = [];
  #chars = 0;

  add({ text }: Row, { spans = [], feedback = [], rejected = [] }: Read): void {
    for (const one of spans) this.#spans.push(one);
    for (const one of feedback) this.#feedback.push(one);
    for (const one of rejected) this.#rejected.push(one);
    this.#chars += text.length;
  }

  get isFull(): boolean {
    return this.#chars >= batchChars;
  }

  async flush(store: ProductionStore, known: KnownFeedback, counts: CollectCounts): Promise<void> {
    const [spans, rejected] = [this.#spans, this.#rejected];
    const feedback = this.#feedback.filter((one) => known.add(one));
    counts.known += this.#feedback.length - feedback.length;
    [this.#spans, this.#feedback, this.#rejected, this.#chars] = [[], [], [], 0];
    await Promise.all([
      keepSpans(store, spans, counts),
      store.addFeedback(feedback),
      store.reject(rejected),
    ]);
    counts.feedback += feedback.length;
    counts.rejected += rejected.length;
  }
}

export interface ImportFileOptions {
  readonly store: ProductionStore;
  /** One of `importFormats`. */
  readonly format: string;
  readonly counts: CollectCounts;
  /** The name of a score that is a rating, besides those that say so. */
  readonly rating?: string;
  readonly signal?: AbortSignal;
}

/**
 * Adds what is in a file, of feedback what is new. Rows that cannot be read are counted and kept aside, with their
 * line.
 */
export async function importFile(file: string, options: ImportFileOptions): Promise<void> {
  const { store, counts, signal } = options;
  const batch = new Batch();
  const known = new KnownFeedback(readFeedback(store.folder));
  for (const row of rowsOf(file)) {
    signal?.throwIfAborted();
    try {
      batch.add(row, readRow(row, options));
    } catch (error) {
      const reason = (error as Error).message;
      batch.add(row, { rejected: [{ at: row.at, reason, text: row.text }] });
    }
    if (batch.isFull) await batch.flush(store, known, counts);
  }
  await batch.flush(store, known, counts);
}
