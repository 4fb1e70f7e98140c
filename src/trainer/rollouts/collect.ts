/** The rollouts of a synchronous step: one batch of tasks, or with rejection sampling as many as it takes. */
import type { Episode } from "../../core/trajectory.ts";
import { checkFailures } from "../../rollouts/service/failures.ts";
import { episodesOf, type TaskRollouts } from "../../rollouts/task-rollouts.ts";
import { mapConcurrent } from "../../util/concurrency.ts";
import type { RolloutContext } from "../run-context.ts";
import { assessTask, SolveCounts } from "./rejection.ts";
import { scoreTogether } from "../../rollouts/scoring/evaluate-group.ts";
import type { UnstampedEvent } from "../../core/events.ts";
import type { Task } from "../../core/task.ts";
import type { RolloutRequest } from "../../rollouts/rollout-request.ts";
import { deriveSeed } from "../../util/random.ts";

/** Key of a group of rollouts: a task in its `number`-th batch or place. */
export const rolloutsKey = (number: number, task: Task): string => `${number}/${task.id}`;

/** `rollout.n` rollouts of a task; seeds depend on `number` and the task alone. */
export function requestsOf(
  { config }: Pick<RolloutContext, "config">,
  number: number,
  task: Task,
): RolloutRequest[] {
  const { rollout, trainer } = config;
  return Array.from({ length: rollout.n }, (_, rolloutIndex) => ({
    task,
    rolloutIndex,
    episodeId: `${rolloutsKey(number, task)}/${rolloutIndex}`,
    seed: deriveSeed(trainer.seed, "rollout", number, task.id, rolloutIndex),
  }));
}

/** The rollouts of a task, scored by the group evaluator; without one they stay as they are. */
export async function scoreGroup(
  { config, groupEvaluator: evaluator }: Pick<RolloutContext, "config" | "groupEvaluator">,
  task: Task,
  episodes: readonly Episode[],
  signal: AbortSignal,
  onEvent: (event: UnstampedEvent) => void,
): Promise<readonly Episode[]> {
  if (evaluator === undefined) return episodes;
  const scored = await scoreTogether(task, episodes, {
    evaluator,
    solvedReward: config.rollout.solvedReward,
    limitMs: Math.ceil(config.workflow.evaluatorTimeoutS * 1000),
    signal,
  });
  const failed = scored.find((episode, i) => {
    return episode.terminationReason === "evaluator_error" && episode !== episodes[i];
  });
  if (failed?.error !== undefined) {
    const { name, message } = failed.error;
    const error = { name, message };
    onEvent({ type: "evaluator-error", episodeId: failed.id, taskId: task.id, error });
  }
  return scored;
}

export interface Collected {
  readonly rollouts: readonly TaskRollouts[];
  /** Left for later steps. */
  readonly waiting: readonly TaskRollouts[];
  /** Every rollout that was run for this step, or where none was needed those that are trained on. */
  readonly episodes: readonly Episode[];
  /** Batches begun so far, over the whole run. */
  readonly batches: number;
  readonly metrics: Readonly<Record<string, number>>;
}

/** Runs batch `batch` (from 1) for step `step`, every rollout to its end. */
async function runBatch(
  run: RolloutContext,
  step: number,
  batch: number,
): Promise<readonly TaskRollouts[]> {
  const { config, emit, signal } = run;
  const { n } = config.rollout;
  const tasks = run.batches.batch(batch);
  const requests = tasks.flatMap((task) => requestsOf(run, batch, task));
  const episodes = await run.rollouts(requests, {
    isValidation: false,
    signal,
    maxFailures: requests.length * config.trainer.maxFailedFraction,
    onEvent: (event) => emit(step, event),
  });
  signal.throwIfAborted();
  return await mapConcurrent(
    tasks,
    config.workflow.nParallelTasks,
    async (task, i, own) => ({
      key: rolloutsKey(batch, task),
      since: step,
      episodes: await scoreGroup(run, task, episodes.slice(i * n, (i + 1) * n), own, (event) =>
        emit(step, event),
      ),
    }),
    signal,
  );
}

/**
 * Collects for step `step`, after `batches` batches and with the rollouts that earlier steps left.
 * @throws AgentTrainerError TOO_MANY_FAILURES
 */
export async function collect(
  run: RolloutContext,
  step: number,
  batches: number,
  left: readonly TaskRollouts[],
): Promise<Collected> {
  const { config, emit, journal } = run;
  const { enable: isFiltered, maxBatches } = config.rejectionSample;
  const size = config.data.trainBatchSize;
  const needed = isFiltered ? size : 1;
  const tasks = run.batches.batchSize;
  const batch = { tasks, rollouts: tasks * config.rollout.n };
  const chosen = [...left];
  const episodes: Episode[] = [];
  const counts = new SolveCounts();
  emit(step, { type: "step-start", ...batch });
  let begun = 0;
  while (chosen.length < needed && begun < (isFiltered ? maxBatches : 1)) {
    if (begun > 0) emit(step, { type: "rollouts-added", ...batch });
    begun++;
    const rollouts = await runBatch(run, step, batches + begun);
    episodes.push(...episodesOf(rollouts));
    journal.episodes(step, "train", episodes);
    checkFailures(episodesOf(rollouts), config.trainer.maxFailedFraction, `step ${step}`);
    for (const one of rollouts) {
      run.batches.adaptive?.observe(one);
      const assessed = isFiltered ? assessTask(config, one) : null;
      if (assessed !== null) counts.add(assessed);
      if (assessed?.isUseful !== false) chosen.push(one);
    }
  }
  const rollouts = isFiltered ? chosen.slice(0, size) : chosen;
  const waiting = isFiltered ? chosen.slice(size) : [];
  return {
    rollouts,
    waiting,
    episodes: episodes.length > 0 ? episodes : episodesOf(rollouts),
    batches: batches + begun,
    metrics: isFiltered
      ? {
          ...counts.metrics(),
          "rejection_sample/batches": begun,
          "rejection_sample/waiting_tasks": waiting.length,
        }
      : {},
  };
}
