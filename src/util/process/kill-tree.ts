/**
 * Ends a process and all that it started: its process group, and, on Linux, whatever left the group but
 * still has the mark in its environment (a daemon, `setsid`, `nohup`).
 */
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

/** Processes whose environment has `mark`, which is `NAME=value`; none where the system does not tell. */
export function markedProcesses(mark: string): readonly number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name) && environmentOf(name).split("\0").includes(mark))
    .map(Number);
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    // It ended, or belongs to another user.
    return "";
  }
}

/** Kills a group and what carries `mark`, without waiting for them. */
export function killTree(pid: number, mark: string | null): void {
  signalGroup(pid, "SIGKILL");
  if (mark === null) return;
  for (let pass = 0; pass < passes; pass++) {
    const left = markedProcesses(mark);
    if (left.length === 0) return;
    for (const one of left) {
      try {
        process.kill(one, "SIGKILL");
      } catch {
        // It is gone already.
      }
    }
  }
}
