/** The shell command that resumes a run. */
import { basename, relative } from "node:path";
import type { BackendCapabilities } from "../../core/backend.ts";
import { capabilityMatrix } from "../../core/capabilities.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import type { TrainResult } from "../../trainer/run.ts";
import { exitCodes } from "./exit-codes.ts";
import type { CliIo } from "./io.ts";
import { shellQuote } from "../../util/shell-quote.ts";

interface Stopped {
  readonly runDir: string;
  readonly checkpoint: string | null;
}

/** Whether a backend continues runs; those of users do. */
function canResume(backend: string): boolean {
  const row: ReadonlyMap<string, BackendCapabilities> = new Map(Object.entries(capabilityMatrix));
  return row.get(backend)?.exactResume ?? true;
}

/**
 * What to type after a run was interrupted, as a sentence.
 * @param isNamed the run folder has a fixed name: without `--resume` it would be refused as already in use.
 * @param isResumable whether the backend continues runs. @default true
 */
export function nextCommand(
  { runDir, checkpoint }: Stopped,
  args: readonly string[],
  isNamed: boolean,
  isResumable: boolean = true,
): string {
  if (!isResumable)
    return `This backend cannot resume a run. To start a new one: ${commandLine(args)}`;
  if (checkpoint !== null) return `To resume: ${commandLine([...args, "--resume", runDir])}`;
  const again = commandLine([...args, ...(isNamed ? ["--resume"] : [])]);
  return `Nothing was saved, because no step was completed. To start again: ${again}`;
}

/** The exit status of a run; where it was stopped, after saying how it goes on. */
export function endOf(
  result: Stopped & Pick<TrainResult, "status">,
  args: readonly string[],
  { trainer, backend }: TrainConfig,
  { stderr }: CliIo,
): number {
  if (result.status === "completed" || result.status === "untrained") return exitCodes.done;
  const isNamed = trainer.experimentName !== null;
  stderr.write(`${nextCommand(result, args, isNamed, canResume(backend))}\n`);
  return result.status === "interrupted" ? exitCodes.interrupted : exitCodes.done;
}

/** How this process was started, as a user would type it; `args` follow. */
export function commandLine(
  args: readonly string[],
  { argv, env, cwd }: Pick<NodeJS.Process, "argv" | "env"> & { readonly cwd: string } = {
    argv: process.argv,
    env: process.env,
    cwd: process.cwd(),
  },
): string {
  const script = argv[1] ?? "agent-trainer";
  const [command, ...rest] = args;
  const words =
    env["npm_lifecycle_event"] === command && command !== undefined
      ? ["npm", "run", command, "--", ...rest]
      : basename(script).startsWith("main.")
        ? ["node", relative(cwd, script), ...args]
        : [...(env["npm_command"] === "exec" ? ["npx"] : []), "agent-trainer", ...args];
  return words.map(shellQuote).join(" ");
}
