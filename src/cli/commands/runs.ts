/** `agent-trainer runs`: lists runs, shows one, deletes old checkpoints. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../core/errors.ts";
import type { RunFinding } from "../../core/health.ts";
import { formatCost, readCostOfReward } from "../../runs/cost-of-reward.ts";
import { readRunHealth } from "../../runs/run-health.ts";
import { cleanRuns } from "../../runs/clean-runs.ts";
import { listRuns, readRun, type RunSummary } from "../../runs/run-summary.ts";
import { formatBytes } from "../terminal/byte-progress.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import type { CliIo } from "../terminal/io.ts";
import { safeText } from "../terminal/terminal.ts";
import { wrapText } from "../terminal/wrap-text.ts";
import { isBadEnd } from "../../view/run-status.ts";
import { recordedFindingLines } from "../report/health-report.ts";

export interface RunsFlags {
  readonly json?: boolean;
}

export interface CleanFlags extends RunsFlags {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** `size             3 MB`: what does not fit continues below the value. */
const hangingOf = (line: string): number => /^\S[\w ]{0,15} {2,}/u.exec(line)?.[0].length ?? 2;

function print(io: CliIo, flags: RunsFlags, value: unknown, lines: readonly string[]): number {
  const { columns } = io.stdout;
  const shown = (line: string): string => wrapText(safeText(line), columns, hangingOf(line));
  const text = flags.json === true ? JSON.stringify(value) : lines.map(shown).join("\n");
  io.stdout.write(`${text}\n`);
  return exitCodes.done;
}

/** "3 h": how long ago, in the largest unit that fits. */
function age(time: number): string {
  const minutes = Math.max(0, Math.floor((Date.now() - time) / 60_000));
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} d`;
}

const shown = (value: number | null): string => (value === null ? "-" : value.toFixed(3));

/** Of fine-tuning, the loss. */
function rewards({ firstReward, lastReward, firstLoss, lastLoss }: RunSummary): string {
  if (lastLoss !== null) return `loss ${shown(firstLoss)} → ${shown(lastLoss)}`;
  return lastReward === null ? "-" : `${shown(firstReward)} → ${shown(lastReward)}`;
}

export function best({ bestValidation }: RunSummary): string {
  if (bestValidation === null) return "-";
  const { step, value, metric } = bestValidation;
  return `${metric === "val/loss" ? "loss " : ""}${shown(value)} (step ${step})`;
}

const stepsOf = ({ steps, totalSteps }: RunSummary): string => `${steps}/${totalSteps ?? "?"}`;

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

export async function listCommand(folder: string, flags: RunsFlags, io: CliIo): Promise<number> {
  const runs = await listRuns(folder);
  return print(
    io,
    flags,
    runs,
    runs.length === 0 ? [`There are no runs in ${folder}.`] : table(runs),
  );
}

function health(findings: readonly RunFinding[], { status, steps }: RunSummary): readonly string[] {
  if (findings.length > 0) return findings.flatMap(recordedFindingLines);
  if (steps === 0) return ["there are no metrics to look at"];
  return [
    isBadEnd(status)
      ? "its metrics show no problem that a rule knows; why it ended is above"
      : "no problem found in the newest steps",
  ];
}

export async function showCommand(name: string, flags: RunsFlags, io: CliIo): Promise<number> {
  const run = await readRun(existsSync(name) ? name : join("runs", name));
  const checkpoints = run.checkpoints.map(({ step, bytes }) => `${step} (${formatBytes(bytes)})`);
  const found = await readRunHealth(run.path);
  const cost = await readCostOfReward(run.path);
  const end = run.reason === null ? [] : [`${run.status}: ${run.reason}`, ""];
  return print(io, flags, { ...run, cost, health: found }, [
    ...end,
    `run              ${run.path}`,
    `model            ${run.model}`,
    `backend          ${run.backend}`,
    `status           ${run.status}`,
    `steps            ${stepsOf(run)}`,
    `reward           ${rewards(run)}`,
    `best validation  ${best(run)}`,
    `checkpoints      ${checkpoints.join(", ") || "none"}`,
    `size             ${formatBytes(run.bytes)}`,
    ...(cost === null ? [] : [`cost             ${formatCost(cost)}`]),
    `last written     ${new Date(run.updatedAt).toISOString()}`,
    ...health(found, run).map((line, i) => (i === 0 ? "health" : "").padEnd(17) + line),
  ]);
}

export async function cleanCommand(folder: string, flags: CleanFlags, io: CliIo): Promise<number> {
  if (flags.dryRun !== true && flags.yes !== true) {
    throw new ConfigError({
      message: "runs gc deletes checkpoints, so it needs --yes.",
      hint: "Look first at what would be deleted: agent-trainer runs gc --dry-run",
    });
  }
  const runs = await cleanRuns({ folder, dryRun: flags.dryRun === true });
  const verb = flags.dryRun === true ? "would delete" : "deleted";
  const lines = runs.flatMap(({ name, deleted, kept, bytes, skipped }) => {
    if (skipped !== null) return [`${name}: left as it is, since ${skipped}`];
    if (deleted.length === 0) return [];
    return [
      `${name}: ${verb} ${deleted.join(", ")} (${formatBytes(bytes)}); keeps ${kept.join(", ")}`,
    ];
  });
  const total = runs.reduce((sum, { bytes }) => sum + bytes, 0);
  return print(io, flags, runs, [...lines, `${verb} ${formatBytes(total)}`]);
}
