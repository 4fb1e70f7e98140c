/** Runs in processes that are killed at random moments and resumed until they are done. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRandom } from "../../../src/util/random.ts";
import type { CrashRun } from "./crash-child.ts";

/** SIGKILL does not empty the page cache, so a folder in memory shows the same and spares the disk. */
const memory = "/dev/shm";
export const newCrashFolder = (): string =>
  mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), "agent-trainer-crash-"));

interface Ended {
  readonly wasKilled: boolean;
  /** Of a run that came to its end. */
  readonly result: Readonly<Record<string, unknown>> | null;
}

/** One process. `killAfterMs`: from its first event on; null lets it live. */
export function runChild(child: string, run: CrashRun, killAfterMs: number | null): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const started = spawn(process.execPath, [child, JSON.stringify(run)], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    let errors = "";
    let timer: NodeJS.Timeout | undefined;
    started.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if (killAfterMs === null || timer !== undefined || !output.includes("started\n")) return;
      timer = setTimeout(() => started.kill("SIGKILL"), killAfterMs);
    });
    started.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
    started.on("error", reject);
    started.on("close", (code, signal) => {
      clearTimeout(timer);
      if (signal === "SIGKILL") resolve({ wasKilled: true, result: null });
      else if (code === 0) {
        const line = output.trimEnd().split("\n").at(-1) ?? "";
        resolve({ wasKilled: false, result: JSON.parse(line) as Ended["result"] });
      } else reject(new Error(`The run failed (${String(code ?? signal)}): ${errors}`));
    });
  });
}

export interface Survived {
  readonly result: Readonly<Record<string, unknown>>;
  readonly kills: number;
}

/** Kills one run again and again, each time within `withinMs`, until it comes to its end. */
export async function surviveKills(
  child: string,
  run: CrashRun,
  { seed, withinMs, most }: { seed: number; withinMs: number; most: number },
): Promise<Survived> {
  const random = createRandom(seed);
  for (let kills = 0; ;) {
    const killAfterMs = kills < most ? random() * withinMs : null;
    const { wasKilled, result } = await runChild(child, run, killAfterMs);
    if (wasKilled) kills++;
    else if (result !== null) return { result, kills };
  }
}
