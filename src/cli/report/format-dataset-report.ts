/** Formats a dataset's report for the terminal. */
import type { FieldReport } from "../../datasets/field-report.ts";
import type { DatasetReport } from "../../launch/inspect-dataset.ts";
import type { CliIo } from "../terminal/io.ts";
import { colorsFor, safeText } from "../terminal/terminal.ts";

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

export function formatDatasetReport(source: string, report: DatasetReport, io: CliIo): string {
  const colors = colorsFor(io.stdout);
  const { fields, duplicates, examples, problems, badRows, rows, tasks } = report;
  const width = Math.max(0, ...fields.map(({ name }) => name.length));
  const lines = [
    `${safeText(source)}: ${rows} rows, ${tasks} of which can be used`,
    "fields",
    ...fields.map((field) => fieldLine(field, width)),
    `duplicates: ${duplicates.exact} exact, ${duplicates.near} near`,
    ...duplicates.examples.map(({ id, duplicates: other, kind }) =>
      short(`  task "${id}" is ${kind === "exact" ? "" : "nearly "}task "${other}"`),
    ),
    ...(examples.length === 0 ? [] : ["examples"]),
    ...examples.map(({ id, instruction }) => short(`  ${id}: ${JSON.stringify(instruction)}`)),
    ...(badRows === 0 ? [] : [colors.red(`bad rows: ${badRows}`)]),
    ...problems.map((problem) => `  ${safeText(problem)}`),
  ];
  return `${lines.join("\n")}\n`;
}
