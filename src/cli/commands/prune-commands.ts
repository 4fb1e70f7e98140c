/** Flags and help of `agent-trainer prune`; the command is in `prune.ts`, loaded on demand. */
import type { Command } from "commander";
import type { CliIo } from "../terminal/io.ts";
import type { MakeCommand } from "./model-commands.ts";
import type { PruneFlags } from "./prune.ts";

const help = `
onnxruntime-node contains binaries for macOS, Windows and Linux, of which one system needs a sixth. npm
installs them all, and again at the next npm ci or npm install of that package.

Examples:
  $ agent-trainer prune --dry-run
  $ agent-trainer prune --yes
`;

export function addPruneCommand(
  program: Command,
  io: CliIo,
  onExit: (code: number) => void,
  command: MakeCommand,
): void {
  command(program, "prune", "delete the engine's files for other systems from node_modules")
    .option("--dry-run", "list what would be deleted, and delete nothing")
    .option("--yes", "delete; without it or --dry-run the command is refused")
    .addHelpText("after", help)
    .action(async (flags: PruneFlags) => {
      const { pruneCommand } = await import("./prune.ts");
      onExit(pruneCommand(flags, io));
    });
}
