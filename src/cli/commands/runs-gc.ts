/** `agent-trainer runs gc`: deletes checkpoints that no one needs. */
import { ConfigError } from "../../core/errors.ts";
import { cleanRuns } from "../../runs/clean-runs.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { printLines } from "../report/run-lines.ts";
import { formatBytes } from "../terminal/byte-progress.ts";

const help = `
A run that a process is using is left as it is, and so are checkpoints that another run of the folder names as its model.

Examples:
  $ agent-trainer runs gc --dry-run
  $ agent-trainer runs gc --yes
`;

export const command: CliCommand = defineCommand({
  flags: (gc) =>
    gc
      .argument("[folder]", "folder of the runs", "runs")
      .option("--dry-run", "list what would be deleted, and delete nothing")
      .option("--yes", "delete; without it or --dry-run the command is refused"),
  help,
  async run([folder], { dryRun = false, yes = false, json = false }, io) {
    if (!dryRun && !yes) {
      throw new ConfigError({
        message: "runs gc deletes checkpoints, so it needs --yes.",
        hint: "Look first at what would be deleted: agent-trainer runs gc --dry-run",
      });
    }
    const runs = await cleanRuns({ folder, dryRun });
    const verb = dryRun ? "would delete" : "deleted";
    const lines = runs.flatMap(({ name, deleted, kept, bytes, skipped }) => {
      if (skipped !== null) return [`${name}: left as it is, since ${skipped}`];
      if (deleted.length === 0) return [];
      return [
        `${name}: ${verb} ${deleted.join(", ")} (${formatBytes(bytes)}); keeps ${kept.join(", ")}`,
      ];
    });
    const total = runs.reduce((sum, { bytes }) => sum + bytes, 0);
    return printLines(io, json, runs, [...lines, `${verb} ${formatBytes(total)}`]);
  },
});
