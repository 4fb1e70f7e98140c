/** Several runs one after another that differ in their seed alone. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { configTree } from "../../config/parse.ts";
import type { Tree } from "../../config/camel-keys.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { ConfigError } from "../../core/errors.ts";
import type { TrainerEvent } from "../../core/events.ts";
import { identifying } from "../../runs/read-options.ts";
import { checkChanges, configChanges } from "../../runs/run-identity.ts";
import { lockRun } from "../../runs/run-lock.ts";
import { meanInterval, type MeanInterval } from "../../runs/seeds/mean-interval.ts";
import {
  holdsRun,
  type SeedMetric,
  type SeedRun,
  seedRunState,
  seedRunValue,
} from "../../runs/seeds/seed-run.ts";
import { holdsSeeds, readSeedsOptions, writeSeedsOptions } from "../../runs/seeds/seeds-record.ts";
import type { TrainResult } from "../../trainer/run.ts";
import { redact, redactOptions } from "../../util/redact.ts";

/** What a run is started with, in addition to its configuration. */
export interface SeedRunOptions {
  readonly resume: "auto" | false;
  readonly signal: AbortSignal;
  readonly onEvent: (event: TrainerEvent) => void;
}

/** Options of {@link trainSeeds}. */
export interface TrainSeedsOptions {
  /** Folder in which each run has its folder. */
  readonly folder: string;
  /** How many seeds, from `trainer.seed` of the configuration on, or a list of them. */
  readonly seeds: number | readonly number[];
  /**
   * The configuration with further options, `key=value` each, which have to apply last:
   * `(overrides) => loadConfig({ file: "shop.yaml", overrides }).config`.
   */
  readonly config: (overrides: readonly string[]) => TrainConfig;
  /** Makes a run: `(config, run) => new AgentTrainer({ config, ...run }).train()`, or `fineTune({ config, ...run })`. */
  readonly train: (config: TrainConfig, run: SeedRunOptions) => Promise<TrainResult>;
  /**
   * Continues what is in the folder: runs that ended are not repeated, one that was stopped resumes, and one that
   * failed is tried again. @default false
   */
  readonly resume?: boolean;
  /** Aborting it ends the runs: the one that is made saves its last step. */
  readonly signal?: AbortSignal;
  /** Called before each run that is made. */
  readonly onRun?: (run: {
    readonly name: string;
    readonly index: number;
    readonly of: number;
  }) => void;
  /** Called with every event of every run. */
  readonly onEvent?: (event: TrainerEvent) => void;
}

/** The result of {@link trainSeeds}. */
export interface TrainSeedsResult {
  readonly status: "completed" | "interrupted";
  /** Path of the folder of all runs. */
  readonly folder: string;
  /**
   * What runs are compared by, at their last validation or step: `val/reward/mean`, without validations
   * `reward/mean`; of fine-tuning without rewards `val/loss`, without validations `train/loss`.
   */
  readonly metric: SeedMetric;
  readonly runs: readonly SeedRun[];
  /** Over the runs that have a value; null where none has. */
  readonly result: MeanInterval | null;
}

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
interface PreparedRun extends Pick<SeedRun, "name" | "path" | "seed"> {
  readonly config: TrainConfig;
}

/** The runs, each of which is valid. */
export function prepareSeeds({
  folder,
  seeds,
  config,
}: Pick<TrainSeedsOptions, "folder" | "seeds" | "config">): readonly PreparedRun[] {
  return seedsOf(seeds, config([]).trainer.seed).map((seed) => {
    const name = `seed=${seed}`;
    const set = {
      "trainer.seed": seed,
      "trainer.output_dir": folder,
      "trainer.experiment_name": name,
    };
    const overrides = Object.entries(set).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
    return { name, path: join(folder, name), seed, config: config(overrides) };
  });
}

function checkFolder(folder: string): void {
  const isOfSeeds = holdsSeeds(folder);
  if (!isOfSeeds && !holdsRun(folder)) return;
  throw new ConfigError({
    message: `The folder ${folder} already holds ${isOfSeeds ? "runs of several seeds" : "a run"}.`,
    hint: `${isOfSeeds ? "Continue them with --resume (in code, resume: true), choose" : "Choose"} another folder or name, or delete the folder.`,
    fields: { path: folder },
  });
}

/** Runs that ended continue where these change. */
const lengths = /^(?:trainer\.total_(?:batches|epochs)|budget\..+)$/u;

/** @throws CheckpointError where options are others that decide what runs compute. */
function continuesEnded(options: Tree, config: TrainConfig, folder: string): boolean {
  const changes = configChanges(options, config).filter(({ option }) => !identifying.has(option));
  checkChanges(changes, folder, false);
  return changes.some(({ option }) => lengths.test(option));
}

/** @param failed why runs failed now, by their names: one that failed to start has no folder that says so */
async function reportOf(
  prepared: readonly PreparedRun[],
  failed: ReadonlyMap<string, string>,
): Promise<Pick<TrainSeedsResult, "metric" | "runs" | "result">> {
  const runs: SeedRun[] = [];
  let metric: SeedMetric | null = null;
  for (const { name, path, seed } of prepared) {
    const message = failed.get(name);
    const state =
      message === undefined ? await seedRunState(path) : ({ status: "failed", message } as const);
    const hasEnded = state.status !== "failed" && state.status !== "waiting";
    const found: ReturnType<typeof seedRunValue> = hasEnded ? seedRunValue(path, metric) : null;
    metric ??= found?.[0] ?? null;
    runs.push({ name, path, seed, ...state, value: found?.[1] ?? null });
  }
  const values = runs.flatMap(({ value }) => (value === null ? [] : [value]));
  const result = values.length === 0 ? null : meanInterval(values);
  return { metric: metric ?? "val/reward/mean", runs, result };
}

/**
 * Makes a run for each of several seeds, one after another, and reports their mean with its interval. Each is an
 * ordinary run in `folder`, named by its seed. A run that fails is counted and named, and the others are made.
 *
 * @throws ConfigError for options that are not valid, before anything starts; CheckpointError where runs are resumed
 * with other options than they were made with.
 *
 * @example
 * const { result } = await trainSeeds({
 *   folder: "runs/shop-seeds",
 *   seeds: 5,
 *   config: (overrides) => loadConfig({ file: "shop.yaml", overrides }).config,
 *   train: (config, run) => new AgentTrainer({ config, ...run }).train(),
 * });
 */
export async function trainSeeds(options: TrainSeedsOptions): Promise<TrainSeedsResult> {
  const { folder, signal = new AbortController().signal, onEvent = () => {} } = options;
  const prepared = prepareSeeds(options);
  if (options.resume !== true) checkFolder(folder);
  const base = options.config(["trainer.seed=0"]);
  const found = readSeedsOptions(folder);
  const isLonger = found !== null && continuesEnded(found, base, folder);
  mkdirSync(folder, { recursive: true });
  const unlock = lockRun(folder);
  const failed = new Map<string, string>();
  try {
    writeSeedsOptions(folder, redactOptions(configTree(base)));
    for (const [index, { name, path, config }] of prepared.entries()) {
      const { status } = await seedRunState(path);
      if (status !== "waiting" && status !== "failed" && !isLonger) continue;
      if (signal.aborted) break;
      options.onRun?.({ name, index, of: prepared.length });
      try {
        const resume = holdsRun(path) ? "auto" : false;
        await options.train(config, { resume, signal, onEvent });
      } catch (error) {
        if (!signal.aborted)
          failed.set(name, redact(error instanceof Error ? error.message : String(error)));
      }
    }
    const report = await reportOf(prepared, failed);
    const isDone = report.runs.every(({ status }) => status !== "waiting");
    return { status: isDone ? "completed" : "interrupted", folder, ...report };
  } finally {
    unlock();
  }
}
