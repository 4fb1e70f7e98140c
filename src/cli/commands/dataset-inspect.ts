/** `agent-trainer dataset inspect`: what a dataset holds, and whether every row can be used. */
import { InvalidArgumentError } from "commander";
import type { FieldReport } from "../../datasets/field-report.ts";
import type { DatasetReport } from "../../launch/inspect-dataset.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { createByteProgress } from "../terminal/byte-progress.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { wholeNumber } from "../terminal/flag-values.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import { type CliIo, writeResult } from "../terminal/io.ts";
import { colorsFor, safeText } from "../terminal/terminal.ts";
import { defined } from "../../util/defined.ts";

const help = `
A DATASET is a .jsonl, .json, .csv, .tsv or .parquet file, or path#export of a module.

Examples:
  $ agent-trainer dataset inspect train.jsonl
  $ agent-trainer dataset inspect train.parquet --field instruction=prompt.0.content
  $ agent-trainer dataset inspect train.csv --json

Exit status: 0 when every row can be used, 1 when some cannot, 2 when the dataset cannot be read.
`;

function fieldPair(text: string, before: readonly string[] = []): readonly string[] {
  if (/^[^=]+=.+$/u.test(text)) return [...before, text];
  throw new InvalidArgumentError("It must be NAME=FIELD, as in instruction=question.");
}

const exampleLength = 100;

function short(text: string): string {
  return safeText(text.length > exampleLength ? `${text.slice(0, exampleLength - 1)}…` : text);
}

function fieldLine({ name, types, missing, lengths }: FieldReport, width: number): string {
  const kinds = Object.entries(types)
    .toSorted(([, a], [, b]) => b - a)
    .map(([type, count], _, all) => (all.length === 1 ? type : `${type} (${count})`));
  const facts = [
    kinds.join(", "),
    ...(lengths === null
      ? []
      : [`length ${lengths.min} to ${lengths.max}, ${lengths.mean.toFixed(1)} on average`]),
    ...(missing === 0 ? [] : [`missing in ${missing} ${missing === 1 ? "row" : "rows"}`]),
  ];
  return `  ${safeText(name).padEnd(width)}  ${facts.join("; ")}`;
}

function formatDatasetReport(source: string, report: DatasetReport, io: CliIo): string {
  const colors = colorsFor(io.stdout);
  const { fields, duplicates, examples, problems, badRows, rows, tasks } = report;
  const width = Math.max(0, ...fields.map(({ name }) => name.length));
  const lines = [
    `${safeText(source)}: ${rows} rows, ${tasks} of which can be used`,
    "fields",
    ...fields.map((field) => fieldLine(field, width)),
    `duplicates: ${duplicates.count}`,
    ...duplicates.examples.map(({ id, duplicates: other }) =>
      short(`  task "${id}" is task "${other}"`),
    ),
    ...(examples.length === 0 ? [] : ["examples"]),
    ...examples.map(({ id, instruction }) => short(`  ${id}: ${JSON.stringify(instruction)}`)),
    ...(badRows === 0 ? [] : [colors.red(`bad rows: ${badRows}`)]),
    ...problems.map((problem) => `  ${safeText(problem)}`),
  ];
  return `${lines.join("\n")}\n`;
}

/** Resolves with 1 when some rows cannot be used, or there are none. */
export const command: CliCommand = defineCommand({
  flags: (inspect) =>
    inspect
      .argument("<dataset>")
      .option(
        "--field <name=field>",
        "read a field of the task from this field of the rows, as dataset.fields does; repeat the flag for several",
        fieldPair,
      )
      .option("--limit <n>", "read this many rows at most (default: all)", wholeNumber(1))
      .option(
        "--examples <n>",
        "examples of tasks, bad rows and duplicates to show",
        wholeNumber(1),
        3,
      ),
  help,
  async run([source], { field = [], limit, examples, quiet = false, json = false }, io) {
    const { fieldsOf } = await import("../../launch/dataset-options.ts");
    const { inspectDataset } = await import("../../launch/inspect-dataset.ts");
    using interrupt = watchInterrupt(io, "Stopping.");
    const progress = createByteProgress({ stream: io.stderr, isQuiet: quiet });
    const report = await inspectDataset(source, {
      fields: fieldsOf(field),
      examples,
      option: "The argument",
      signal: interrupt.signal,
      onDownload: ({ file, doneBytes, totalBytes }) => progress.report(file, doneBytes, totalBytes),
      ...defined({ limit }),
    }).finally(() => progress.clear());
    writeResult(io, json, { dataset: source, ...report }, formatDatasetReport(source, report, io));
    return report.badRows > 0 || report.tasks === 0 ? exitCodes.failed : exitCodes.done;
  },
});
