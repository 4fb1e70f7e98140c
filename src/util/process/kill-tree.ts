/**
 * Ends a process and all that it started: its process group, and, on Linux, whatever left the group but
 * still has the mark in its environment (a daemon, `setsid`, `nohup`).
 */
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";

/** Passes over the process table; a process may fork while it is read. */
const passes = 3;

/** Sends a signal to a process group; on Windows, which has none, to the process. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch {
    // It is gone already.
  }
}

/** Processes whose environment has one of `marks`, each `NAME=value`; none where the system does not tell. */
function markedProcesses(marks: readonly string[]): readonly number[] {
  if (process.platform !== "linux" || marks.length === 0) return [];
  const wanted = new Set(marks);
  return readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .filter((name) => environmentOf(name).some((variable) => wanted.has(variable)))
    .map(Number);
}

function environmentOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
  } catch {
    // It ended, or belongs to another user.
    return [];
  }
}

/** Kills what carries one of `marks`; returns how many there were in the last pass. */
export function killMarked(marks: readonly string[]): number {
  let left: readonly number[] = [];
  for (let pass = 0; pass < passes; pass++) {
    left = markedProcesses(marks);
    if (left.length === 0) break;
    for (const one of left) {
      try {
        process.kill(one, "SIGKILL");
      } catch {
        // It is gone already.
      }
    }
  }
  return left.length;
}

/** Kills a group and what carries `mark`, without waiting for them. */
export function killTree(pid: number, mark: string | null): void {
  if (process.platform === "win32") spawnSync("taskkill", ["/T", "/F", "/PID", String(pid)]);
  else signalGroup(pid, "SIGKILL");
  if (mark !== null) killMarked([mark]);
}
