/** Formats the verdict of a gate for the terminal. */
import type { GateRatio } from "../../runs/evaluations/gate-report.ts";
import type { GateResult } from "../../runs/evaluations/gate-folders.ts";
import { safeText } from "../terminal/terminal.ts";
import { differenceCells, formatTable } from "./evaluation-table.ts";

const ratioLine = (name: string, { current, candidate, ratio }: GateRatio): string =>
  `${name} per attempt: ${current.toFixed(1)} -> ${candidate.toFixed(1)}${ratio === null ? "" : ` (${ratio.toFixed(2)} times)`}`;

export function formatGate(result: GateResult): string {
  const { verdict, misses, heldOut, slices, regressions, cost, latency, gained, grown } = result;
  const main = heldOut.reward ?? heldOut.pass;
  const rows = [
    ["data", "tasks", "current", "candidate", "difference", "95 % interval"],
    ...(main === null ? [] : [["held out", String(heldOut.tasks), ...differenceCells(main)]]),
    ...slices.flatMap(({ field, value, tasks, difference, counts }) =>
      difference === null
        ? []
        : [
            [
              `${field}=${value}${counts ? "" : " (shown only)"}`,
              String(tasks),
              ...differenceCells(difference),
            ],
          ],
    ),
  ];
  const lines = [
    formatTable(rows),
    `newly solved: ${gained.length}`,
    ...(regressions === null
      ? []
      : [
          `regression set: ${regressions.tasks} tasks, ${regressions.solved} solved before, ${regressions.lost.length} no longer`,
        ]),
    ...(grown === 0 ? [] : [`added to the regression set: ${grown}`]),
    ratioLine("cost", cost),
    ratioLine("milliseconds", latency),
    "",
    verdict,
    ...misses.map(({ message, missedBy }) => {
      const by = missedBy === null ? "" : `; missed by ${Number(missedBy.toFixed(4))}`;
      return `  ${safeText(message)}${by}`;
    }),
  ];
  return `${lines.join("\n")}\n`;
}
