/** Flags and help of `agent-trainer runs`; the commands are in `runs.ts`, loaded on demand. */
import type { Command } from "commander";
import type { CliIo } from "../terminal/io.ts";
import type { MakeCommand } from "./model-commands.ts";
import type { CleanFlags, RunsFlags } from "./runs.ts";

const groupHelp = `
Examples:
  $ agent-trainer runs list
  $ agent-trainer runs show runs/shop
  $ agent-trainer runs compare runs/a runs/b
  $ agent-trainer runs gc --dry-run
  $ agent-trainer runs gc --yes
`;

export function addRunsCommands(
  program: Command,
  io: CliIo,
  onExit: (code: number) => void,
  command: MakeCommand,
): void {
  const group = program
    .command("runs")
    .description("list runs, show one, compare two, and delete old checkpoints")
    .addHelpText("after", groupHelp);
  command(group, "list", "list the runs of a folder, the one written last first")
    .argument("[folder]", "folder of the runs", "runs")
    .addHelpText(
      "after",
      "\nExamples:\n  $ agent-trainer runs list\n  $ agent-trainer runs list --json\n",
    )
    .action(async (folder: string, flags: RunsFlags) => {
      const { listCommand } = await import("./runs.ts");
      onExit(await listCommand(folder, flags, io));
    });
  command(group, "show", "show one run: status, steps, rewards, checkpoints, size")
    .argument("<run>", "folder of the run, or its name in the folder runs")
    .addHelpText(
      "after",
      "\nExamples:\n  $ agent-trainer runs show runs/shop\n  $ agent-trainer runs show shop --json\n",
    )
    .action(async (run: string, flags: RunsFlags) => {
      const { showCommand } = await import("./runs.ts");
      onExit(await showCommand(run, flags, io));
    });
  command(group, "compare", "compare two runs: options that differ, metrics side by side")
    .argument("<a>", "folder of the first run, or its name in the folder runs")
    .argument("<b>", "folder of the second run, or its name in the folder runs")
    .addHelpText(
      "after",
      "\nExamples:\n  $ agent-trainer runs compare runs/a runs/b\n  $ agent-trainer runs compare a b --json\n",
    )
    .action(async (a: string, b: string, flags: RunsFlags) => {
      const { compareRunsCommand } = await import("./compare-runs.ts");
      onExit(await compareRunsCommand(a, b, flags, io));
    });
  command(group, "gc", "delete checkpoints; the newest and the best of each run are kept")
    .argument("[folder]", "folder of the runs", "runs")
    .option("--dry-run", "list what would be deleted, and delete nothing")
    .option("--yes", "delete; without it or --dry-run the command is refused")
    .addHelpText(
      "after",
      "\nA run that a process is using is left as it is, and so are checkpoints that another run of the folder names as its model.\n\nExamples:\n  $ agent-trainer runs gc --dry-run\n  $ agent-trainer runs gc --yes\n",
    )
    .action(async (folder: string, flags: CleanFlags) => {
      const { cleanCommand } = await import("./runs.ts");
      onExit(await cleanCommand(folder, flags, io));
    });
}
