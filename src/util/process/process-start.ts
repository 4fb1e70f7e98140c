/** When a process began: with its id, this names one process even after the id is given to another one. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** What the system says; null for one that is gone (a zombie is), or on Windows, which has no such command. */
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
