/** Memory of a process and what it started. Only Linux has it in files that are quick to read. */
import { readFileSync } from "node:fs";

const maxProcesses = 200;
const pageBytes = 4096;

const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // The process ended, or the system has no such file.
    return "";
  }
};

/** Resident bytes of a process and all below it; 0 where that cannot be found out. */
export function usedMemory(pid: number): number {
  if (process.platform !== "linux") return 0;
  let total = 0;
  const waiting = [String(pid)];
  for (let seen = 0; waiting.length > 0 && seen < maxProcesses; seen++) {
    const id = waiting.pop()!;
    total += Number(read(`/proc/${id}/statm`).split(" ")[1] ?? 0) * pageBytes;
    waiting.push(...read(`/proc/${id}/task/${id}/children`).split(" ").filter(Boolean));
  }
  return total;
}
