/** Runs of several seeds for the terminal: their mean with its interval, and what failed. */
import type { TrainSeedsResult } from "../../launch/seeds/train-seeds.ts";
import type { SeedRun } from "../../runs/seeds/seed-run.ts";
import { formatTable } from "../report/evaluation-table.ts";
import { safeText } from "../terminal/terminal.ts";

const digits = (value: number): string => value.toFixed(3);

export function formatSeeds({ status, folder, metric, runs, result }: TrainSeedsResult): string {
  const count = (one: SeedRun["status"]): number => runs.filter((run) => run.status === one).length;
  const [failed, waiting] = [count("failed"), count("waiting")];
  const done = runs.length - failed - waiting;
  const seeds = runs.filter(({ value }) => value !== null).length;
  const interval =
    result === null || result.low === null || result.high === null
      ? "one seed"
      : `${digits(result.low)} to ${digits(result.high)}`;
  const lines = [
    `${status}: ${done} of ${runs.length} runs done${failed > 0 ? `, ${failed} failed` : ""}${waiting > 0 ? `, ${waiting} left` : ""}`,
    "",
    formatTable([
      ["seeds", metric, "95 % interval"],
      [
        `${seeds}/${runs.length}`,
        ...(result === null ? ["", ""] : [digits(result.mean), interval]),
      ],
    ]).trimEnd(),
    "",
    ...runs.flatMap((run) =>
      run.status === "failed" ? [`failed: ${run.name}: ${safeText(run.message ?? "")}`] : [],
    ),
    `folder: ${safeText(folder)}`,
  ];
  return `${lines.join("\n")}\n`;
}
