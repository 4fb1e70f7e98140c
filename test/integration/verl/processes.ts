/** Which processes of this machine descend from one, on Linux. */
import { readdirSync, readFileSync } from "node:fs";

function parentOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name, in parentheses, may hold anything.
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return null;
  }
}

export function descendants(pid: number): number[] {
  const parents = new Map(
    readdirSync("/proc")
      .filter((name) => /^\d+$/u.test(name))
      .map((name) => [Number(name), parentOf(Number(name))] as const),
  );
  const found: number[] = [];
  for (let next = [pid]; next.length > 0;) {
    next = [...parents].flatMap(([child, parent]) =>
      parent !== null && next.includes(parent) ? [child] : [],
    );
    found.push(...next);
  }
  return found;
}

export const areAlive = (pids: readonly number[]): number[] =>
  pids.filter((pid) => parentOf(pid) !== null && !isZombie(pid));

function isZombie(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return true;
  }
}
