/** Starts processes: every one of this package leads a process group and does not outlive this process. */
import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { randomUUID } from "node:crypto";
import { killTree, signalGroup } from "./kill-tree.ts";
import { guardEntry, guardMark, startGuard } from "./process-guard.ts";
import { processStart } from "./guarded-process.ts";

/** What to run, and with what. */
export interface ProcessCommand {
  readonly argv: readonly string[];
  /** @default that of this process */
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdio: StdioOptions;
  /** Whether what left its group is ended with it, too; only Linux tells, by reading its process table. @default false */
  readonly endsAll?: boolean;
  /** How long it may take to end by itself once this process is gone. @default 0 */
  readonly graceMs?: number;
  /** Whether `release` leaves it running after the end of this process. @default false */
  readonly mayStay?: boolean;
  /** Whether the shell looks for the program, as scripts on Windows need it. @default false */
  readonly shell?: boolean;
}

/** A process that was started, or could not be: `child` then has an "error". */
export interface StartedProcess {
  readonly child: ChildProcess;
  /** Asks its group to end. */
  readonly terminate: () => void;
  /** Kills its group, and all that it started where `endsAll`. */
  readonly kill: () => void;
  /** Lets it outlive this process. */
  readonly release: () => void;
}

/** At its end, what is left of its group is killed, unless it `mayStay`. */
export function startProcess(command: ProcessCommand): StartedProcess {
  const { argv, cwd, env, stdio, endsAll = false, graceMs = 0, mayStay = false } = command;
  const [executable = "", ...args] = argv;
  const own = `AGENT_TRAINER_PROCESS=${randomUUID()}`;
  startGuard();
  const child = spawn(executable, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...env, ...Object.fromEntries([own, ...(mayStay ? [] : [guardMark])].map(pair)) },
    stdio,
    shell: command.shell ?? false,
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  const { pid } = child;
  if (pid === undefined) {
    return { child, terminate: () => {}, kill: () => {}, release: () => {} };
  }
  const release = guardEntry({ pid, start: processStart(pid), mark: own, graceMs });
  const kill = (): void => killTree(pid, endsAll ? own : null);
  child.once("exit", () => {
    if (!mayStay) kill();
    release();
  });
  return {
    child,
    kill,
    terminate: () => signalGroup(pid, "SIGTERM"),
    release: () => {
      release();
      child.unref();
    },
  };
}

const pair = (variable: string): readonly [string, string] => {
  const [name = "", value = ""] = variable.split("=");
  return [name, value];
};
