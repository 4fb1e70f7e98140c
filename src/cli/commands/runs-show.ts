/** `agent-trainer runs show`: what became of one run, and its health. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { RunFinding } from "../../core/health.ts";
import { formatCost, readCostOfReward } from "../../runs/cost-of-reward.ts";
import { readRunHealth } from "../../runs/run-health.ts";
import { readRun, type RunSummary } from "../../runs/run-summary.ts";
import { isBadEnd } from "../../view/run-status.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { recordedFindingLines } from "../report/health-report.ts";
import { best, printLines, rewards, stepsOf } from "../report/run-lines.ts";
import { formatBytes } from "../terminal/byte-progress.ts";

const help = `
Examples:
  $ agent-trainer runs show runs/shop
  $ agent-trainer runs show shop --json
`;

function health(findings: readonly RunFinding[], { status, steps }: RunSummary): readonly string[] {
  if (findings.length > 0) return findings.flatMap(recordedFindingLines);
  if (steps === 0) return ["there are no metrics to look at"];
  return [
    isBadEnd(status)
      ? "its metrics show no problem that a rule knows; why it ended is above"
      : "no problem found in the newest steps",
  ];
}

export const command: CliCommand = defineCommand({
  flags: (show) => show.argument("<run>", "folder of the run, or its name in the folder runs"),
  help,
  async run([name], { json = false }, io) {
    const run = await readRun(existsSync(name) ? name : join("runs", name));
    const checkpoints = run.checkpoints.map(({ step, bytes }) => `${step} (${formatBytes(bytes)})`);
    const found = await readRunHealth(run.path);
    const cost = await readCostOfReward(run.path);
    const end = run.reason === null ? [] : [`${run.status}: ${run.reason}`, ""];
    return printLines(io, json, { ...run, cost, health: found }, [
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
  },
});
