/** `agent-trainer prune`: deletes the engine's files for other systems. */
import { ConfigError } from "../../core/errors.ts";
import { deleteBinaries, foreignBinaries, runtimeFolder } from "../../engine/foreign-binaries.ts";
import { formatBytes } from "../terminal/byte-progress.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import type { CliIo } from "../terminal/io.ts";

export interface PruneFlags {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Runs the command on the installation in `folder`; returns the exit status. */
export function pruneCommand(
  flags: PruneFlags,
  io: CliIo,
  folder: string = runtimeFolder(),
): number {
  const isDryRun = flags.dryRun === true;
  if (!isDryRun && flags.yes !== true) {
    throw new ConfigError({
      message: "prune deletes files of onnxruntime-node, so it needs --yes.",
      hint: "Add --dry-run to see what would be deleted.",
    });
  }
  const binaries = foreignBinaries(folder);
  if (!isDryRun) deleteBinaries(binaries);
  const bytes = binaries.reduce((sum, binary) => sum + binary.bytes, 0);
  if (flags.json === true) {
    io.stdout.write(`${JSON.stringify({ folder, isDryRun, bytes, binaries })}\n`);
    return exitCodes.done;
  }
  const word = isDryRun ? "would delete" : "deleted";
  const lines = binaries.map(
    ({ system, bytes: size }) => `${word}  ${system.padEnd(13)} ${formatBytes(size).padStart(9)}`,
  );
  const total =
    binaries.length === 0
      ? `Nothing to delete: ${folder} has binaries for this system only.`
      : `${word} ${formatBytes(bytes)} of ${folder}`;
  io.stdout.write(`${[...(flags.quiet === true ? [] : lines), total].join("\n")}\n`);
  return exitCodes.done;
}
