/** `agent-trainer runs compare`: what two runs were configured with, and what came of them. */
import { compareRuns } from "../../runs/compare-runs.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { best } from "../report/run-lines.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { writeResult } from "../terminal/io.ts";
import { safeText } from "../terminal/terminal.ts";

const help = `
Examples:
  $ agent-trainer runs compare runs/a runs/b
  $ agent-trainer runs compare a b --json
`;

const number = (value: number | null): string =>
  value === null ? "-" : String(Number(value.toPrecision(4)));

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = [0, 1, 2].map((i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** The metrics that a person looks at first. */
const isMain = (name: string): boolean =>
  /^(?:reward\/mean|val\/|train\/(?:loss|grad_norm|kl|entropy))/u.test(name);

export const command: CliCommand = defineCommand({
  flags: (compare) =>
    compare
      .argument("<a>", "folder of the first run, or its name in the folder runs")
      .argument("<b>", "folder of the second run, or its name in the folder runs"),
  help,
  async run([a, b], { json = false }, io) {
    const comparison = await compareRuns(a, b);
    const { a: one, b: two, options, metrics } = comparison;
    const changed = Object.entries(options).map(([key, [x, y]]) => [key, x ?? "-", y ?? "-"]);
    const measured = Object.entries(metrics).filter(([name]) => isMain(name));
    const lines = table([
      ["", one.name, two.name],
      ["status", one.status, two.status],
      ["steps", String(one.steps), String(two.steps)],
      ["best validation", best(one), best(two)],
      ...(changed.length === 0 ? [["options", "the same", "the same"]] : changed),
      ...measured.map(([name, [x, y]]) => [name, number(x), number(y)]),
    ]);
    writeResult(io, json, comparison, `${lines.map(safeText).join("\n")}\n`);
    return exitCodes.done;
  },
});
