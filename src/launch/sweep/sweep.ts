/** Several runs one after another: one configuration with several seeds, or points of a search, each with every seed. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { configTree } from "../../config/parse.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { startDeadline } from "../../core/deadline.ts";
import { ConfigError } from "../../core/errors.ts";
import { identifying } from "../../runs/read-options.ts";
import { checkChanges, configChanges } from "../../runs/run-identity.ts";
import { lockRun } from "../../runs/run-lock.ts";
import { holdsRun, runState } from "../../runs/sweeps/run-state.ts";
import { type PlannedRun, planSweep, type SweepPlan } from "../../runs/sweeps/sweep-plan.ts";
import {
  isSweep,
  readSweep,
  type SweepRecord,
  writeSweep,
} from "../../runs/sweeps/sweep-record.ts";
import { reportSweep, type SweepReport, valueOf } from "../../runs/sweeps/sweep-report.ts";
import { redact, redactOptions } from "../../util/redact.ts";
import type { SweepOptions, SweepResult } from "./sweep-options.ts";

/** More would be a mistake, and as many folders. */
const maxSeeds = 1000;

function seedsOf(seeds: number | readonly number[], first: number): readonly number[] {
  const list =
    typeof seeds === "number" && Number.isInteger(seeds)
      ? Array.from({ length: Math.min(seeds, maxSeeds + 1) }, (_, i) => first + i)
      : [seeds].flat();
  const isSeed = (seed: number): boolean => Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32;
  const areDifferent = new Set(list).size === list.length;
  if (list.length > 0 && list.length <= maxSeeds && areDifferent && list.every(isSeed)) return list;
  throw new ConfigError({
    message: `seeds must be a number from 1 to ${maxSeeds}, or a list of different seeds, but it is ${JSON.stringify(seeds)}.`,
    fields: { option: "seeds", value: seeds },
  });
}

/** A run with its folder and its configuration. */
interface PreparedRun extends PlannedRun {
  readonly path: string;
  readonly config: TrainConfig;
}

interface Prepared extends Pick<SweepPlan, "points"> {
  readonly runs: readonly PreparedRun[];
}

/** The runs of a sweep, each of which is valid. */
export function prepareSweep(options: SweepOptions): Prepared {
  const { folder, seeds = 1, config } = options;
  const { points, runs } = planSweep(options, seedsOf(seeds, config([]).trainer.seed));
  const prepared = runs.map((run) => {
    const set: Readonly<Record<string, unknown>> = {
      ...points[run.point],
      "trainer.seed": run.seed,
      "trainer.output_dir": folder,
      "trainer.experiment_name": run.name,
    };
    const overrides = Object.entries(set).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
    return { ...run, path: join(folder, run.name), config: config(overrides) };
  });
  return { points, runs: prepared };
}

function checkFolder(folder: string): void {
  const found = isSweep(folder) ? "sweep" : holdsRun(folder) ? "run" : null;
  if (found === null) return;
  throw new ConfigError({
    message: `The folder ${folder} already holds a ${found}.`,
    hint: `${found === "sweep" ? "Continue it with --resume (in code, resume: true), choose" : "Choose"} another folder or name, or delete the folder.`,
    fields: { path: folder },
  });
}

/** Runs that ended continue where these change. */
const lengths = /^(?:trainer\.total_(?:batches|epochs)|budget\..+)$/u;

/** @throws CheckpointError where options are others that decide what runs compute. */
function continuesEnded({ options }: SweepRecord, config: TrainConfig, folder: string): boolean {
  const changes = configChanges(options, config).filter(({ option }) => !identifying.has(option));
  checkChanges(changes, folder, false);
  return changes.some(({ option }) => lengths.test(option));
}

type Failed = Readonly<Record<string, string>>;

async function reportOf(
  { points, runs }: Prepared,
  metric: string | null,
  failed: Failed,
): Promise<SweepReport> {
  let compared = metric;
  const all = await Promise.all(
    runs.map(async ({ name, path, seed, point }) => {
      const state = await runState(path, name, failed);
      const hasEnded = state.status !== "failed" && state.status !== "waiting";
      const found = hasEnded ? valueOf(path, compared) : null;
      compared ??= found?.[0] ?? null;
      return { point, run: { name, path, seed, ...state, value: found?.[1] ?? null } };
    }),
  );
  const byPoint = points.map((options, i) => ({
    options,
    runs: all.flatMap(({ point, run }) => (point === i ? [run] : [])),
  }));
  return reportSweep(compared ?? "val/reward/mean", byPoint);
}

/**
 * Makes the runs of a sweep one after another, and compares what came of them. Each is an ordinary run in
 * `folder`, named by its options and its seed. A run that fails is counted and named, and the others are made.
 *
 * @throws ConfigError for a search or a point that is not valid, before anything starts; CheckpointError where a
 * sweep is resumed with other options than its runs were made with.
 *
 * @example
 * const { points, best } = await sweep({
 *   folder: "runs/learning-rates",
 *   parameters: { "training.learning_rate": [1e-4, 3e-4, 1e-3] },
 *   seeds: 5,
 *   config: (overrides) => loadConfig({ file: "shop.yaml", overrides }).config,
 *   train: (config, run) => new AgentTrainer({ config, ...run }).train(),
 * });
 */
export async function sweep(options: SweepOptions): Promise<SweepResult> {
  const { folder, metric = null, minutes: limit = null, signal: given } = options;
  const prepared = prepareSweep(options);
  if (options.resume !== true) checkFolder(folder);
  const base = options.config(["trainer.seed=0"]);
  const found = readSweep(folder);
  const isLonger = found !== null && continuesEnded(found, base, folder);
  mkdirSync(folder, { recursive: true });
  const unlock = lockRun(folder);
  const before = found ?? { minutes: 0, failed: {} };
  const stored = redactOptions(configTree(base));
  const failed: Record<string, string> = options.retryFailed === true ? {} : { ...before.failed };
  const start = performance.now();
  const minutes = (): number => before.minutes + (performance.now() - start) / 60_000;
  const left = (): number => (limit === null ? Infinity : limit - minutes());
  const deadline = startDeadline("the sweep", Math.max(0, left() * 60_000), given);
  const { signal } = deadline;
  const keep = (): void => writeSweep(folder, { minutes: minutes(), failed, options: stored });
  try {
    keep();
    for (const [index, { name, path, config }] of prepared.runs.entries()) {
      const { status } = await runState(path, name, failed);
      const isDone = status === "failed" ? options.retryFailed !== true : !isLonger;
      if (status !== "waiting" && isDone) continue;
      if (signal.aborted || left() <= 0) break;
      options.onRun?.({ name, index, of: prepared.runs.length });
      try {
        await options.train(config, {
          resume: holdsRun(path) ? "auto" : false,
          signal,
          onEvent(event) {
            if (event.type === "step-end") keep();
            options.onEvent?.(event);
          },
        });
      } catch (error) {
        const message = redact(error instanceof Error ? error.message : String(error));
        if (!signal.aborted) failed[name] = message;
      }
      keep();
    }
    const report = await reportOf(prepared, metric, failed);
    const isDone = report.points.every(({ runs }) =>
      runs.every(({ status }) => status !== "waiting"),
    );
    const ended = given?.aborted === true ? "interrupted" : "out_of_budget";
    return { ...report, status: isDone ? "completed" : ended, folder, minutes: minutes() };
  } finally {
    deadline.dispose();
    unlock();
  }
}
