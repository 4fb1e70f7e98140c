/** `first-hour` and `first-hour-model`: a stopwatch of what a stranger does first, from nothing and with an empty npm cache. */
import { execFile } from "node:child_process";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../test/free-port.ts";
import { smollm2 } from "../../test/integration/llama/smollm2.ts";
import type { Benchmark } from "../harness/benchmark.ts";
import { type Result, result } from "../harness/result.ts";
import { createTempFolder } from "../harness/temp-folder.ts";
import { runStage, type StageRun } from "./run-stage.ts";
import { builtinStages, modelStages, repository, type Stage, tarballName } from "./stages.ts";

/** `validation after step 4: reward 0.500`, or `validation reward 0.180 → 1.000` for both ends at once. */
const validation = /^validation.*?reward +(?<first>[\d.]+)(?: → (?<last>[\d.]+))?/gmu;
const evaluation = /^all +reward +(?<first>[\d.]+)/gmu;

/** Rewards of validation tasks that a stage printed, by what the report calls them. */
export function rewardsOf(printed: string): readonly (readonly [label: string, value: number])[] {
  const [only] = [...printed.matchAll(evaluation)];
  if (only !== undefined) return [["reward", Number(only.groups!["first"])]];
  const all = [...printed.matchAll(validation)].map(({ groups }) => groups!);
  const end = all.at(-1);
  if (end === undefined) return [];
  return [
    ["reward before", Number(all[0]!["first"])],
    ["reward at the end", Number(end["last"] ?? end["first"])],
  ];
}

/** The lines of the report for one stage. */
export function stageResults(stage: Stage, run: StageRun): readonly Result[] {
  const name = stage.label;
  return [
    result(name, "s", run.seconds),
    result(`${name}, processor time`, "s", run.processorSeconds),
    ...(stage.hasPeak
      ? [result(`${name}, memory of the largest process`, "MiB", run.peakMiB)]
      : []),
    ...rewardsOf(run.printed).map(([label, value]) => result(`${name}, ${label}`, "", value)),
  ];
}

/** Runs stages one after the other in a new folder. */
async function timed(
  stages: readonly Stage[],
  log: (line: string) => void,
  prepare: (folder: string) => Promise<void>,
): Promise<readonly Result[]> {
  using hour = createTempFolder();
  await prepare(hour.path);
  const env = { npm_config_cache: join(hour.path, "npm-cache"), NO_COLOR: "1" };
  const results: Result[] = [];
  const runs: StageRun[] = [];
  for (const stage of stages) {
    const cwd = join(hour.path, stage.folder);
    await mkdir(cwd, { recursive: true });
    const run = await runStage(stage.command, cwd, env);
    log(`${stage.label}: ${run.seconds.toFixed(1)} s`);
    runs.push(run);
    results.push(...stageResults(stage, run));
  }
  const sum = (of: (run: StageRun) => number): number =>
    runs.reduce((total, run) => total + of(run), 0);
  return [
    ...results,
    result(
      "all of it",
      "s",
      sum(({ seconds }) => seconds),
    ),
    result(
      "all of it, processor time",
      "s",
      sum(({ processorSeconds }) => processorSeconds),
    ),
  ];
}

export const firstHour: Benchmark = {
  name: "first-hour",
  summary: "a stopwatch from a clone to the demo and a project that has learned",
  isOnce: true,
  run: (_options, log) => timed(builtinStages, log, () => Promise.resolve()),
};

export const firstHourModel: Benchmark = {
  name: "first-hour-model",
  summary: "a stopwatch of docs/first-hour.md, with SmolLM2-135M-Instruct",
  isOnce: true,
  async run(_options, log) {
    const stages = modelStages(smollm2(), await freePort());
    return timed(stages, log, async (folder) => {
      const args = ["pack", "--silent", "--pack-destination", folder];
      const { stdout } = await promisify(execFile)("npm", args, { cwd: repository });
      await rename(join(folder, stdout.trim()), join(folder, tarballName));
    });
  },
};
