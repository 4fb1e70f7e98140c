/** `agent-trainer init`: writes a project that trains at once. */
import { type InitFile, initProject } from "../../launch/init/init-project.ts";
import { requireFramework } from "../../launch/init/frameworks.ts";
import { defined } from "../../util/defined.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import type { CliIo } from "../terminal/io.ts";
import { colorsFor } from "../terminal/terminal.ts";

export interface InitFlags {
  readonly framework: string;
  readonly model?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

const words: Readonly<Record<InitFile["status"], string>> = {
  created: "created",
  kept: "kept",
  missing: "would create",
};

/** Runs the command; resolves with the exit status. */
export function initCommand(folder: string | undefined, flags: InitFlags, io: CliIo): number {
  const framework = requireFramework(flags.framework);
  const result = initProject({
    framework,
    ...defined({ folder, model: flags.model, dryRun: flags.dryRun }),
  });
  if (flags.json === true) {
    io.stdout.write(`${JSON.stringify(result)}\n`);
    return exitCodes.done;
  }
  const colors = colorsFor(io.stdout);
  for (const note of result.notes)
    io.stderr.write(`${colorsFor(io.stderr).yellow("note:")} ${note}\n`);
  const width = Math.max(...result.files.map(({ status }) => words[status].length));
  const files = result.files.map(({ path, status }) => {
    const word = words[status].padEnd(width);
    return `${status === "kept" ? colors.dim(word) : colors.green(word)}  ${path}`;
  });
  const next =
    flags.dryRun === true ? [] : ["", "Next:", ...result.next.map((line) => `  ${line}`)];
  const shown = flags.quiet === true ? [] : files;
  const lines = [...shown, ...next];
  if (lines.length > 0) io.stdout.write(`${lines.join("\n")}\n`);
  return exitCodes.done;
}
