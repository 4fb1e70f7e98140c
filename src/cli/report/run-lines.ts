/** What is said of a run in a line or a cell, for the commands of `runs`. */
import type { RunSummary } from "../../runs/run-summary.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import type { CliIo } from "../terminal/io.ts";
import { safeText } from "../terminal/terminal.ts";
import { wrapText } from "../terminal/wrap-text.ts";

/** `size             3 MB`: what does not fit continues below the value. */
const hangingOf = (line: string): number => /^\S[\w ]{0,15} {2,}/u.exec(line)?.[0].length ?? 2;

/** `value` with `--json`, else the lines, broken between words. */
export function printLines(
  io: CliIo,
  isJson: boolean,
  value: unknown,
  lines: readonly string[],
): number {
  const { columns } = io.stdout;
  const shown = (line: string): string => wrapText(safeText(line), columns, hangingOf(line));
  const text = isJson ? JSON.stringify(value) : lines.map(shown).join("\n");
  io.stdout.write(`${text}\n`);
  return exitCodes.done;
}

const digits = (value: number | null): string => (value === null ? "-" : value.toFixed(3));

/** Of fine-tuning, the loss. */
export function rewards({ firstReward, lastReward, firstLoss, lastLoss }: RunSummary): string {
  if (lastLoss !== null) return `loss ${digits(firstLoss)} → ${digits(lastLoss)}`;
  return lastReward === null ? "-" : `${digits(firstReward)} → ${digits(lastReward)}`;
}

export function best({ bestValidation }: RunSummary): string {
  if (bestValidation === null) return "-";
  const { step, value, metric } = bestValidation;
  return `${metric === "val/loss" ? "loss " : ""}${digits(value)} (step ${step})`;
}

export const stepsOf = ({ steps, totalSteps }: RunSummary): string =>
  `${steps}/${totalSteps ?? "?"}`;
