/**
 * One optimizer step: rollouts, groups, advantages, rows, update, new weights, metrics. Knows nothing
 * of how rollouts run, of what the backend is, or of other steps.
 */
import { computeAdvantages } from "../algorithms/advantages.ts";
import { groupRelative } from "../algorithms/catalog.ts";
import type { EstimatorName } from "../algorithms/catalog.ts";
import { dropUniform } from "../algorithms/filters.ts";
import { groupTrajectories } from "../algorithms/grouping.ts";
import { buildRows } from "../algorithms/rows.ts";
import type { UpdateMetrics } from "../core/backend.ts";
import { NumericsError } from "../core/errors.ts";
import type { LossSpec, OptimSpec } from "../core/loss.ts";
import type { TrainingRow } from "../core/training-row.ts";
import type { Episode } from "../core/trajectory.ts";
import { deriveSeed } from "../util/random.ts";
import type { TrainConfig } from "./config/train-config.ts";
import { trainEpisodeMetrics } from "./episode-metrics.ts";
import { checkFailures } from "./failures.ts";
import type { LoopContext, RolloutRequest } from "./loop-context.ts";
import { learningRateAt } from "./schedule.ts";

export interface StepResult {
  readonly metrics: Readonly<Record<string, number>>;
  readonly weightVersion: number;
}

/** Tells the loop whether the weights still are those of the last completed step. */
export interface UpdateGuard {
  /** Right before the weights change. */
  begin(): void;
  /** The update was refused as a whole: nothing changed. */
  unchanged(): void;
}

function requestsOf(context: LoopContext, step: number): RolloutRequest[] {
  const { rollout, trainer } = context.config;
  return context.batches.batch(step).flatMap((task) =>
    Array.from({ length: rollout.n }, (_, rolloutIndex) => ({
      task,
      rolloutIndex,
      episodeId: `${step}/${task.id}/${rolloutIndex}`,
      seed: deriveSeed(trainer.seed, "rollout", step, task.id, rolloutIndex),
    })),
  );
}

function lossOf({ algorithm }: TrainConfig): LossSpec {
  return {
    name: algorithm.lossFn,
    clipLow: algorithm.epsClip,
    clipHigh: algorithm.epsClipHigh ?? algorithm.epsClip,
    aggregation: algorithm.lossAggMode,
    ...(algorithm.clipRatioC === null ? {} : { dualClip: algorithm.clipRatioC }),
    ...(algorithm.klBeta === 0
      ? {}
      : { kl: { coef: algorithm.klBeta, estimator: algorithm.klEstimator } }),
    ...(algorithm.entropyCoef === 0 ? {} : { entropyCoef: algorithm.entropyCoef }),
  };
}

function optimOf(context: LoopContext, step: number): OptimSpec {
  const { training } = context.config;
  const learningRate = learningRateAt(
    {
      name: training.lrSchedule,
      learningRate: training.learningRate,
      warmupSteps: training.warmupSteps,
      totalSteps: context.totalSteps,
    },
    step,
  );
  const { beta1, beta2, eps, weightDecay, maxGradNorm } = training;
  return { learningRate, beta1, beta2, eps, weightDecay, maxGradNorm };
}

/** Whether groups without a signal are left out; see the option's description. */
function filtersUniform({ algorithm }: TrainConfig): boolean {
  const { filterUniformGroups, advEstimator } = algorithm;
  const used = [advEstimator, ...estimatorsByRole(algorithm).values()];
  return filterUniformGroups ?? used.every((name) => groupRelative.has(name));
}

/** `role=estimator`, whose role may hold an equals sign of its own. */
function estimatorsByRole({ estimatorMap }: TrainConfig["algorithm"]): Map<string, EstimatorName> {
  return new Map(
    estimatorMap.map((entry) => {
      const at = entry.lastIndexOf("=");
      return [entry.slice(0, at), entry.slice(at + 1) as EstimatorName] as const;
    }),
  );
}

function rowsOf(
  config: TrainConfig,
  episodes: readonly Episode[],
): { rows: readonly TrainingRow[]; metrics: Record<string, number> } {
  const grouped = groupTrajectories(episodes);
  const filtered = filtersUniform(config) ? dropUniform(grouped.groups) : null;
  const groups = filtered?.groups ?? grouped.groups;
  const advantages = computeAdvantages(groups, {
    estimator: config.algorithm.advEstimator,
    byRole: estimatorsByRole(config.algorithm),
    normByStd: config.algorithm.normAdvByStdInGrpo,
  });
  const built = buildRows(groups, advantages.advantages);
  return {
    rows: built.rows,
    metrics: {
      ...grouped.metrics,
      ...filtered?.metrics,
      ...advantages.metrics,
      ...built.metrics,
    },
  };
}

function checkFinite(metrics: UpdateMetrics): void {
  for (const [key, value] of Object.entries(metrics)) {
    if (!Number.isFinite(value)) throw new NumericsError(key, value);
  }
}

const prefixed = (metrics: UpdateMetrics): Record<string, number> =>
  Object.fromEntries(Object.entries(metrics).map(([key, value]) => [`train/${key}`, value]));

/** The engine's own numbers, and the share of the step in which it had nothing to do. */
function engineMetrics(numbers: UpdateMetrics, wallS: number): Record<string, number> {
  const { "engine/busy_s": busyS, ...rest } = numbers;
  if (busyS === undefined) return rest;
  return {
    ...rest,
    "time/engine_busy_s": busyS,
    "time/outside_engine_share": wallS > 0 ? Math.max(0, 1 - busyS / wallS) : 0,
  };
}

const nothingCaptured =
  "No rollout of this step left anything to train on. Does the agent send its calls to config.baseUrl, with config.apiKey?";

const secondsSince = (start: number): number => (performance.now() - start) / 1000;

/** Does step `step` (from 1) with the weights of version `weightVersion`. */
export async function runStep(
  context: LoopContext,
  step: number,
  weightVersion: number,
  guard: UpdateGuard,
): Promise<StepResult> {
  const { backend, config, emit, journal, signal } = context;
  const requests = requestsOf(context, step);
  emit(step, { type: "step-start", tasks: context.batches.batchSize, rollouts: requests.length });
  // Numbers are counted since the last call: what came before this step is dropped.
  await backend.metrics?.();
  const start = performance.now();
  const episodes = await context.rollouts(requests, {
    isValidation: false,
    signal,
    maxFailures: requests.length * config.trainer.maxFailedShare,
    onEvent: (event) => emit(step, event),
  });
  signal.throwIfAborted();
  const rolloutS = secondsSince(start);
  journal.episodes(step, "train", episodes);
  checkFailures(episodes, config.trainer.maxFailedShare, `step ${step}`);

  const { rows, metrics } = rowsOf(config, episodes);
  if (metrics["groups/trajectories_after"] === 0) {
    emit(step, { type: "warning", message: nothingCaptured });
  }
  const optim = optimOf(context, step);
  const updateStart = performance.now();
  let update: UpdateMetrics = {};
  let version = weightVersion;
  if (rows.length > 0) {
    guard.begin();
    try {
      // Not given the signal: a step whose update has begun is finished, so the state stays whole.
      update = await backend.updatePolicy(rows, lossOf(config), optim);
    } catch (error) {
      if (error instanceof NumericsError) guard.unchanged();
      throw error;
    }
    checkFinite(update);
    version = await backend.publishWeights();
  }
  const updateS = secondsSince(updateStart);
  const wallS = secondsSince(start);
  const engine = engineMetrics((await backend.metrics?.()) ?? {}, wallS);
  const episodeMetrics = trainEpisodeMetrics(episodes);
  return {
    weightVersion: version,
    metrics: {
      ...episodeMetrics,
      ...metrics,
      ...prefixed(update),
      ...engine,
      "train/skipped_steps": rows.length > 0 ? 0 : 1,
      "time/step_s": wallS,
      "time/rollout_s": rolloutS,
      "time/update_s": updateS,
      "tokens/per_s": rolloutS > 0 ? (episodeMetrics["tokens/sampled"] ?? 0) / rolloutS : 0,
      "progress/step": step,
      "progress/done_share": step / context.totalSteps,
      "progress/epoch": context.batches.cursor(step).epoch,
      "progress/lr": optim.learningRate,
      weight_version: version,
    },
  };
}
