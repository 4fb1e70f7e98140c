/** What is not to outlive the process that started it, as the guard and the record of a run have it. */
import { killMarked, killTree } from "./kill-tree.ts";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * When it began, which with its id names one process, even after the id is given to another one. Null for one that is
 * gone (a zombie is), or on Windows, which has no such command.
 */
export function processStart(pid: number): string | null {
  if (process.platform === "win32") return null;
  if (process.platform !== "linux") {
    const { stdout } = spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" });
    return stdout?.trim() || null;
  }
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // After the name, which may have spaces and parentheses: the state, and 18 fields before the start.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

/** A process, which leads a process group. */
export interface GuardedProcess {
  readonly pid: number;
  /** Of `processStart`. */
  readonly start: string | null;
  /** `NAME=value` in its environment and in that of all that it starts. */
  readonly mark: string;
  /** How long it may take to end by itself once its parent is gone. */
  readonly graceMs: number;
}

/** A command that ends what is no child of this process: a container. */
export interface GuardedByCommand {
  readonly argv: readonly string[];
}

export type GuardEntry = { readonly id: number } & (GuardedProcess | GuardedByCommand);

/** What the guard reads: one of these in each line. */
export type GuardLine = { readonly add: GuardEntry } | { readonly remove: number };

/** Whether its group still has a process. The id of a group is not given away while it has members. */
export function isAlive({ pid, start }: GuardedProcess): boolean {
  const now = processStart(pid);
  if (now !== null) return start === null || now === start;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Kills them and all that they started, but no process that has an id of theirs by now; returns how many there were. */
export function endGuarded(entries: readonly GuardedProcess[]): number {
  const alive = entries.filter(isAlive);
  for (const { pid } of alive) killTree(pid, null);
  return alive.length + killMarked(entries.map(({ mark }) => mark));
}
