/**
 * The guard: a process next to the one that starts others. It reads from a pipe what is running, and when
 * the pipe closes, which it does however its parent ended (`kill -9`, a crash, a closed terminal), it ends
 * all of that, and then itself. Its argument is the mark that everything has.
 */
import { spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import {
  endGuarded,
  type GuardedByCommand,
  type GuardedProcess,
  type GuardEntry,
  type GuardLine,
  isAlive,
} from "./guarded-process.ts";
import { killMarked } from "./kill-tree.ts";

const [, , mark = ""] = process.argv;
const entries = new Map<number, GuardEntry>();
const pollMs = 50;
/** What cannot be killed, such as a process that waits for a broken disk, is left after this. */
const limitMs = 15_000;
const commandMs = 60_000;
/** A process that was being started is seen with its environment only a moment later. */
const quietPasses = 3;

// Those of the terminal and of a service manager are for the parent.
for (const name of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const) process.on(name, () => {});

function read(line: string): void {
  try {
    const said = JSON.parse(line) as GuardLine;
    if ("add" in said) entries.set(said.add.id, said.add);
    else entries.delete(said.remove);
  } catch {
    // Cut off, where the parent was killed.
  }
}

async function endAll(): Promise<void> {
  const processes = [...entries.values()].filter((one) => "pid" in one) as GuardedProcess[];
  const commands = [...entries.values()].filter((one) => "argv" in one) as GuardedByCommand[];
  const startedAt = performance.now();
  const graceMs = Math.max(0, ...processes.map((one) => one.graceMs));
  for (let quiet = 0; quiet < quietPasses;) {
    const passed = performance.now() - startedAt;
    const waiting = processes.filter((one) => one.graceMs > passed && isAlive(one));
    const killed = endGuarded(processes.filter((one) => one.graceMs <= passed));
    // Those with time to end by themselves have the mark, too.
    const marked = waiting.length > 0 ? 0 : killMarked([mark]);
    quiet = waiting.length + killed + marked === 0 ? quiet + 1 : 0;
    if (passed > graceMs + limitMs) break;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  for (const { argv } of commands) {
    spawnSync(argv[0]!, argv.slice(1), { timeout: commandMs, stdio: "ignore" });
  }
}

const lines = createInterface({ input: process.stdin });
lines.on("line", read);
lines.on("close", () => {
  void endAll().finally(() => process.exit());
});
