/** Rows of a tracing service's export through collect and curate, for tests; the rows that come out pass sft's loader. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  parseConversation,
  parsePreference,
} from "../../src/launch/finetune/examples/conversation.ts";
import { parseFeedback } from "../../src/launch/finetune/examples/feedback.ts";
import { curate, type CurateOptions } from "../../src/production/curate/curate.ts";
import { exampleRow } from "../../src/production/curate/rows.ts";
import { rebuildTurns, type Turn } from "../../src/production/curate/turns.ts";
import { readBraintrust } from "../../src/production/import/braintrust.ts";
import type { RowReader } from "../../src/production/import/export-row.ts";
import { readHelicone } from "../../src/production/import/helicone.ts";
import { readLangfuse } from "../../src/production/import/langfuse.ts";
import { readLangSmith } from "../../src/production/import/langsmith.ts";
import { readOpenAiChat } from "../../src/production/import/openai-chat.ts";
import { readJsonRequest } from "../../src/production/otlp/read-json.ts";
import type { CurateReport } from "../../src/production/curate/report.ts";
import { importFile } from "../../src/production/import/import-file.ts";
import {
  type CollectCounts,
  emptyCounts,
  interpretAll,
} from "../../src/production/receiver/keep-otlp.ts";
import type { Feedback } from "../../src/production/store/feedback.ts";
import { ProductionStore, readFeedback } from "../../src/production/store/production-store.ts";

type Row = Readonly<Record<string, unknown>>;

export interface Curated {
  readonly counts: CollectCounts;
  readonly report: CurateReport;
  readonly demonstrations: readonly Row[];
  /** Rows for kto, with their label. */
  readonly rated: readonly Row[];
  readonly tasks: readonly Row[];
  readonly feedback: readonly Feedback[];
}

/** @throws RowError where curate wrote what sft, dpo or kto refuses */
function checkRows(folder: string, rowsOf: (name: string) => readonly Row[]): void {
  for (const side of ["", "val/"]) {
    for (const row of rowsOf(`${side}demonstrations.jsonl`)) parseConversation(row, folder);
    for (const row of rowsOf(`${side}feedback.jsonl`)) parseFeedback(row, folder, "all");
    for (const row of rowsOf(`${side}preferences.jsonl`)) parsePreference(row, folder);
  }
}

/** @param rows of one file, or its text */
export async function collectAndCurate(
  format: string,
  rows: readonly unknown[] | string,
  options: Partial<CurateOptions> & {
    readonly name?: string;
    readonly collectRating?: string;
  } = {},
): Promise<Curated> {
  const folder = mkdtempSync(join(tmpdir(), "curated-"));
  try {
    const { name = "rows.jsonl", collectRating, ...curation } = options;
    const text =
      typeof rows === "string" ? rows : rows.map((row) => JSON.stringify(row)).join("\n");
    writeFileSync(join(folder, name), text);
    const store = new ProductionStore(join(folder, "store"));
    const counts = emptyCounts();
    const rating = collectRating === undefined ? {} : { rating: collectRating };
    await importFile(join(folder, name), { store, format, counts, ...rating });
    await store.close();
    const output = join(folder, "out");
    const report = await curate({
      ...{ folder: store.folder, output, unrated: true, valFraction: 0 },
      ...curation,
    });
    const rowsOf = (file: string): readonly Row[] =>
      readFileSync(join(output, file), "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Row);
    checkRows(output, rowsOf);
    return {
      counts,
      report,
      demonstrations: rowsOf("demonstrations.jsonl"),
      rated: rowsOf("feedback.jsonl"),
      tasks: rowsOf("tasks.jsonl"),
      feedback: [...readFeedback(store.folder)],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const readers: Readonly<Record<string, RowReader>> = {
  braintrust: readBraintrust,
  helicone: readHelicone,
  langfuse: readLangfuse,
  langsmith: readLangSmith,
  openai: readOpenAiChat,
};

/** The turns of one row, without a store; those that are examples pass sft's loader. */
export function turnsIn(format: string, row: object): readonly Turn[] {
  const fields = row as Readonly<Record<string, unknown>>;
  const read = readers[format];
  const { spans } =
    read === undefined ? interpretAll(readJsonRequest(fields, 100), "") : read(fields, undefined);
  const { turns } = rebuildTurns(spans);
  for (const turn of turns) if (turn.flaw === null) parseConversation(exampleRow(turn), "row");
  return turns;
}
