/** The metrics of a step: all of them are put together here. */
import { trainEpisodeMetrics } from "../../runs/episode-metrics.ts";
import type { TrainingBackend, UpdateMetrics } from "../../core/backend.ts";
import type { Episode } from "../../core/trajectory.ts";
import { addTo } from "../../util/group-by.ts";
import type { RolloutContext, RunContext } from "../run-context.ts";
import type { Updates } from "../update/apply-updates.ts";
import type { ScoredGroups, StepRows } from "../update/learn.ts";
import { learningMetrics } from "../update/learning.ts";

type Metrics = Readonly<Record<string, number>>;

export const secondsSince = (start: number): number => (performance.now() - start) / 1000;

/** How long a step and its parts take. */
class StepTimer {
  readonly #start = performance.now();
  readonly #parts: Record<string, number> = {};
  #last = this.#start;

  /** Since the step began. */
  get seconds(): number {
    return secondsSince(this.#start);
  }

  /** The part that ends now; it began where the one before it ended. */
  lap(name: string): number {
    const seconds = secondsSince(this.#last);
    this.#last = performance.now();
    this.#parts[name] = seconds;
    return seconds;
  }

  get metrics(): Metrics {
    return Object.fromEntries(
      Object.entries(this.#parts).map(([name, seconds]) => [`time/${name}_s`, seconds]),
    );
  }
}

/** Begins a step. Backends count since they were last asked: what came before is dropped. */
export async function startTimer(backend: TrainingBackend): Promise<StepTimer> {
  await backend.metrics?.();
  return new StepTimer();
}

/** The engine's own metrics, and the fraction of the step in which it was idle. */
async function engineMetrics(
  backend: TrainingBackend,
  seconds: number,
): Promise<Record<string, number>> {
  const { "engine/busy_s": busyS, ...rest } = (await backend.metrics?.()) ?? {};
  if (busyS === undefined) return rest;
  return {
    ...rest,
    "time/engine_busy_s": busyS,
    "time/outside_engine_fraction": seconds > 0 ? Math.max(0, 1 - busyS / seconds) : 0,
  };
}

/** Totals; except for extremes, every other metric is a mean per token or per update. */
const summed = new Set(["tokens", "observation_tokens"]);

function combine(all: readonly UpdateMetrics[]): Record<string, number> {
  const values = new Map<string, number[]>();
  for (const metrics of all) {
    for (const [key, value] of Object.entries(metrics)) addTo(values, key, value);
  }
  return Object.fromEntries(
    [...values].map(([key, list]) => {
      if (key.endsWith("_max")) return [`train/${key}`, Math.max(...list)];
      if (key.endsWith("_min")) return [`train/${key}`, Math.min(...list)];
      const sum = list.reduce((total, value) => total + value, 0);
      const isSummed = summed.has(key.split("/").at(-1)!);
      return [`train/${key}`, isSummed ? sum : sum / list.length];
    }),
  );
}

/** `train/...`, means over the updates of a step, and how many there were. */
function updateMetrics({ done, skipped, exceededLimit, learningRate }: Updates): Metrics {
  return {
    ...combine(done),
    "train/updates": done.length,
    "train/skipped_updates": skipped,
    "train/skipped_steps": done.length > 0 ? 0 : 1,
    "train/limit_exceeded": exceededLimit ? 1 : 0,
    "progress/lr": learningRate,
  };
}

/** What every step has, whatever it learns from. */
interface StepDone {
  readonly timer: StepTimer;
  readonly update: Updates;
  /** Of the data. */
  readonly epoch: number;
  /** Tokens that were sampled or learned from, and the seconds that it took. */
  readonly throughput: readonly [tokens: number, seconds: number];
  /** Of what is counted only here. */
  readonly counts: Metrics;
}

/** The metrics of a step that learns from examples, and those that every step has. */
export async function record(run: RunContext, step: number, done: StepDone): Promise<Metrics> {
  const { seconds, metrics } = done.timer;
  const [tokens, tokenSeconds] = done.throughput;
  return {
    ...done.counts,
    ...updateMetrics(done.update),
    ...(await engineMetrics(run.backend, seconds)),
    ...metrics,
    "time/step_s": seconds,
    "progress/step": step,
    "progress/done_fraction": step / run.totalSteps,
    "progress/epoch": done.epoch,
    "tokens/per_s": tokenSeconds > 0 ? tokens / tokenSeconds : 0,
    ...run.budget.metrics(),
  };
}

interface RolloutsDone extends Omit<StepDone, "epoch"> {
  /** Rollouts that count as those of the step, whether or not they are trained on. */
  readonly episodes: readonly Episode[];
  readonly groups: ScoredGroups;
  readonly rows: StepRows;
  readonly weightVersion: number;
  /** Batches of tasks begun so far. */
  readonly batches: number;
}

/** The metrics of a step that learns from rollouts. */
export async function recordRollouts(
  run: RolloutContext,
  step: number,
  { episodes, groups, rows, weightVersion, batches, ...done }: RolloutsDone,
): Promise<Metrics> {
  const { hasChanged } = done.update;
  return await record(run, step, {
    ...done,
    epoch: run.batches.cursor(batches).epoch,
    counts: {
      ...trainEpisodeMetrics(episodes),
      ...done.counts,
      ...rows.metrics,
      ...learningMetrics(run.config, { ...rows, rollouts: groups.rollouts, hasChanged }),
      weight_version: weightVersion,
    },
  });
}
