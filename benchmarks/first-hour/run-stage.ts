/** One command of the compiled program, with the time, processor time and memory that it took. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface Stage {
  readonly seconds: number;
  readonly processorSeconds: number;
  /** Most memory resident, of the process itself. */
  readonly peakMib: number;
}

const program = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** Clock ticks per second that Linux counts processor time in. */
const ticks = 100;

/** What Linux says of a process; null once it has ended. */
function usageOf(pid: number): Pick<Stage, "processorSeconds" | "peakMib"> | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /su, "")
      .split(" ");
    const peak = /^VmHWM:\s+(\d+) kB/mu.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    if (peak === undefined) return null;
    const processorSeconds = (Number(stat[11]) + Number(stat[12])) / ticks;
    return { processorSeconds, peakMib: Number(peak) / 1024 };
  } catch {
    return null;
  }
}

/** @throws Error when it fails */
export async function runStage(args: readonly string[], cwd: string): Promise<Stage> {
  const start = performance.now();
  const child = spawn(process.execPath, [program, ...args], { cwd, stdio: ["ignore", 2, 2] });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  let usage = { processorSeconds: 0, peakMib: 0 };
  const watch = setInterval(() => (usage = usageOf(child.pid!) ?? usage), 100);
  try {
    const [code] = (await once(child, "exit")) as [number | null];
    if (code !== 0) throw new Error(`"agent-trainer ${args.join(" ")}" ended with ${code}.`);
  } finally {
    clearInterval(watch);
    process.removeListener("exit", kill);
  }
  return { seconds: (performance.now() - start) / 1000, ...usage };
}
