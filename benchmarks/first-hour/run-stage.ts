/** One command line of a first hour, with what it took: wall and processor time, and the largest process. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("stage.py", import.meta.url));
/** No stage takes longer, also on a slow machine. */
const deadlineMs = 30 * 60_000;

export interface StageRun {
  readonly seconds: number;
  readonly processorSeconds: number;
  readonly peakMiB: number;
  /** What it printed, on both streams. */
  readonly printed: string;
}

/** @throws Error with the end of what it printed when it fails, or takes longer than the deadline */
export async function runStage(
  command: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<StageRun> {
  const child = spawn("python3", [program, command], {
    cwd,
    // A group, so that the end of the shell is the end of what it started.
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let isEnded = false;
  const kill = (): void => {
    if (!isEnded && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  };
  process.once("exit", kill);
  const timer = setTimeout(kill, deadlineMs);
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream!.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  }
  try {
    const [answer] = await Promise.all([
      text(child.stdio[3] as NodeJS.ReadableStream),
      once(child, "close"),
    ]);
    isEnded = true;
    const { code, ...measured } = JSON.parse(answer || '{"code":"killed"}') as {
      readonly code: number | string;
    } & StageRun;
    if (code !== 0) throw new Error(`${command}ended with ${code}:\n${printed.slice(-2000)}`);
    return { ...measured, printed };
  } finally {
    clearTimeout(timer);
    process.removeListener("exit", kill);
  }
}
