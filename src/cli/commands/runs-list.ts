/** `agent-trainer runs list`: the runs of a folder, a line each. */
import { listRuns, type RunSummary } from "../../runs/run-summary.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { best, printLines, rewards, stepsOf } from "../report/run-lines.ts";
import { formatBytes } from "../terminal/byte-progress.ts";

/** "3 h": how long ago, in the largest unit that fits. */
function age(time: number): string {
  const minutes = Math.max(0, Math.floor((Date.now() - time) / 60_000));
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} d`;
}

const header = ["name", "model", "status", "steps", "reward", "best validation", "size", "age"];

function table(runs: readonly RunSummary[]): string[] {
  const rows = runs.map((run) => [
    run.name,
    run.model,
    run.status,
    stepsOf(run),
    rewards(run),
    best(run),
    formatBytes(run.bytes),
    age(run.updatedAt),
  ]);
  const all = [header, ...rows];
  const widths = header.map((_, i) => Math.max(...all.map((row) => row[i]!.length)));
  return all.flatMap((row, k) => {
    const line = row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join("  ")
      .trimEnd();
    const { status, reason } = runs[k - 1] ?? { status: "completed", reason: null };
    // The word says all that is known of it.
    return reason === null || status === "stopped" ? [line] : [line, `  ${firstLine(reason)}`];
  });
}

/** Of a reason, in a list: `runs show` has all of it. */
function firstLine(reason: string): string {
  const [line = ""] = reason.split("\n");
  return line.length <= 400 ? line : `${line.slice(0, 400)} …`;
}

const help = `
Examples:
  $ agent-trainer runs list
  $ agent-trainer runs list --json
`;

export const command: CliCommand = defineCommand({
  flags: (list) => list.argument("[folder]", "folder of the runs", "runs"),
  help,
  async run([folder], { json = false }, io) {
    const runs = await listRuns(folder);
    const lines = runs.length === 0 ? [`There are no runs in ${folder}.`] : table(runs);
    return printLines(io, json, runs, lines);
  },
});
