/**
 * One optimizer step: rollouts, groups, advantages, rows, update, new weights, metrics. Knows nothing
 * of how rollouts run, of what the backend is, or of other steps.
 */
import type { UpdateMetrics } from "../core/backend.ts";
import { NumericsError } from "../core/errors.ts";
import { deriveSeed } from "../util/random.ts";
import { trainEpisodeMetrics } from "./episode-metrics.ts";
import { checkFailures } from "./failures.ts";
import type { LoopContext, RolloutRequest } from "./loop-context.ts";
import { trainingRows } from "./training-rows.ts";
import { lossOf, optimOf } from "./update-spec.ts";

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

  const { rows, metrics } = await trainingRows(context, episodes);
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
