/** One run of `agent-trainer demo` as a process of its own, and what its run folder says. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { DemoResult } from "../../src/cli/terminal/demo-summary.ts";
import { mean } from "../harness/statistics.ts";

/** What the demo measured of itself. */
export interface DemoRun {
  readonly seed: number;
  readonly seconds: number;
  readonly secondsToFirstUpdate: number;
  readonly rewardFirst: number;
  readonly rewardLast: number;
  readonly valFirst: number;
  readonly valLast: number;
  /** Mean over the steps, in [0, 1]. */
  readonly outsideEngineShare: number;
}

const program = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** Runs folders go into `folder`. `steps`: fewer than it has. @throws Error when it fails. */
export async function runDemo(seed: number, folder: string, steps?: number): Promise<DemoRun> {
  const short = steps === undefined ? [] : ["--steps", String(steps)];
  const args = [program, "demo", "--json", "--quiet", "--seed", String(seed), ...short];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  process.removeListener("exit", kill);
  if (code !== 0) throw new Error(`The demo with seed ${seed} failed (${String(code)}).`);
  const result = JSON.parse(output.trim().split("\n").at(-1) ?? "") as DemoResult;
  const measured = (key: keyof DemoResult): number => {
    const value = result[key];
    if (typeof value === "number") return value;
    throw new Error(`The demo with seed ${seed} has no ${key}.`);
  };
  return {
    seed,
    seconds: measured("seconds"),
    secondsToFirstUpdate: measured("secondsToFirstUpdate"),
    rewardFirst: measured("rewardFirst"),
    rewardLast: measured("rewardLast"),
    valFirst: measured("valFirst"),
    valLast: measured("valLast"),
    outsideEngineShare: outsideFraction(
      await readFile(join(result.runDir, "metrics.jsonl"), "utf8"),
    ),
  };
}

/** The mean of `time/outside_engine_fraction` over the lines that have it. */
export function outsideFraction(metricsLines: string): number {
  const lines = metricsLines.split("\n").filter((line) => line !== "");
  const shares = lines
    .map((line) => (JSON.parse(line) as Record<string, unknown>)["time/outside_engine_fraction"])
    .filter((share) => typeof share === "number");
  return mean(shares);
}
