/**
 * Keeps processes from outliving this one, however it ends: a guard, one process that is started with the
 * first of them, reads here what is running, and ends it when this process is gone (`guard-main.ts`).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import type { Socket } from "node:net";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import {
  endGuarded,
  type GuardEntry,
  type GuardLine,
  type GuardedByCommand,
  type GuardedProcess,
} from "./guarded-process.ts";

/** `NAME=value` in the environment of everything that ends with this process. */
export const guardMark: string = `AGENT_TRAINER_GUARD=${randomUUID()}`;

/** A guard that is killed is started again, but not forever. */
const maxStarts = 10;

const entries = new Map<number, GuardEntry>();
const listeners = new Set<(line: GuardLine) => void>();
let guard: ChildProcess | null = null;
let starts = 0;
let nextId = 1;

/** Compiled files run as they are, sources need a loader; what is bundled finds the sources. */
function command(): readonly string[] {
  const compiled = fileURLToPath(new URL("./guard-main.js", import.meta.url));
  if (existsSync(compiled)) return [compiled];
  return ["--import", "tsx", compiled.replace(/\.js$/u, ".ts")];
}

/** Without the marks of an outer trainer, which would end the guard before its work, and options of Node. */
function environment(): NodeJS.ProcessEnv {
  const env = { ...process.env };
  for (const name of Object.keys(env)) {
    if (name.startsWith("AGENT_TRAINER_") || name === "NODE_OPTIONS") delete env[name];
  }
  return env;
}

const warn = (why: string): void => {
  process.emitWarning(
    `The process that ends agents and servers when this one is killed does not run: ${why}. They may stay.`,
  );
};

function tell(line: GuardLine): void {
  guard?.stdin?.write(`${JSON.stringify(line)}\n`);
}

/** Starts the guard unless it runs: before anything is started, so that nothing is without one. */
export function startGuard(): void {
  if (guard !== null) return;
  if (++starts > maxStarts) {
    if (starts === maxStarts + 1) warn(`it ended ${maxStarts} times`);
    return;
  }
  const argv = [...command(), guardMark];
  const started = spawn(process.execPath, argv, {
    stdio: ["pipe", "ignore", "ignore"],
    // A separate session: what the terminal sends to this process does not reach it.
    detached: true,
    cwd: dirname(argv.at(-2)!),
    env: environment(),
    windowsHide: true,
  });
  guard = started;
  const lost = (): void => {
    if (guard !== started) return;
    guard = null;
    if (entries.size > 0) startGuard();
  };
  started.once("error", (error) => {
    warn(error.message);
    starts = maxStarts + 1;
    lost();
  });
  started.once("exit", lost);
  started.stdin.on("error", () => {});
  started.unref();
  (started.stdin as Socket).unref();
  for (const entry of entries.values()) tell({ add: entry });
}

/** At an orderly end, what gets no time to end is gone before this process is. */
function endAll(): void {
  const processes = [...entries.values()].filter((one) => "pid" in one);
  endGuarded(processes.filter((one) => one.graceMs === 0));
}

/** Enters what is to end with this process; the result takes it out again. */
export function guardEntry(given: GuardedProcess | GuardedByCommand): () => void {
  startGuard();
  if (entries.size === 0) process.on("exit", endAll);
  const entry = { id: nextId++, ...given };
  entries.set(entry.id, entry);
  const say = (line: GuardLine): void => {
    tell(line);
    for (const listener of listeners) listener(line);
  };
  say({ add: entry });
  return () => {
    if (!entries.delete(entry.id)) return;
    say({ remove: entry.id });
    if (entries.size === 0) process.off("exit", endAll);
  };
}

/** Calls `listener` with what is entered now and later, until disposed. */
export function watchGuarded(listener: (line: GuardLine) => void): Disposable {
  for (const entry of entries.values()) listener({ add: entry });
  listeners.add(listener);
  return { [Symbol.dispose]: () => void listeners.delete(listener) };
}
