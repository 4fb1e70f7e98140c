/** Runs the rollouts of one batch of tasks to their end. */
import type { Task } from "../../core/task.ts";
import { mapConcurrent } from "../../util/concurrency.ts";
import { deriveSeed } from "../../util/random.ts";
import { checkFailures } from "../../rollouts/service/failures.ts";
import { scoreGroup } from "./group-scores.ts";
import type { LoopContext } from "../loop-context.ts";
import type { RolloutRequest } from "../../rollouts/rollout-request.ts";
import type { TaskRollouts } from "../../rollouts/task-rollouts.ts";

/** Key of a group of rollouts: a task in its `number`-th batch or place. */
export const rolloutsKey = (number: number, task: Task): string => `${number}/${task.id}`;

/** `rollout.n` rollouts of a task; seeds depend on `number` and the task alone. */
export function requestsOf(
  { config }: Pick<LoopContext, "config">,
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

/** Runs batch `batch` (from 1) for step `step`. */
export async function runBatch(
  context: LoopContext,
  step: number,
  batch: number,
): Promise<readonly TaskRollouts[]> {
  const { config, emit, signal } = context;
  const { maxFailedFraction } = config.trainer;
  const tasks = context.batches.batch(batch);
  const requests = tasks.flatMap((task) => requestsOf(context, batch, task));
  const episodes = await context.rollouts(requests, {
    isValidation: false,
    signal,
    maxFailures: requests.length * maxFailedFraction,
    onEvent: (event) => emit(step, event),
  });
  signal.throwIfAborted();
  const { n } = config.rollout;
  return await mapConcurrent(
    tasks,
    config.workflow.nParallelTasks,
    async (task, i, own) => ({
      key: rolloutsKey(batch, task),
      since: step,
      episodes: await scoreGroup(context, task, episodes.slice(i * n, (i + 1) * n), own, (event) =>
        emit(step, event),
      ),
    }),
    signal,
  );
}

/** @throws AgentTrainerError TOO_MANY_FAILURES */
export function checkRollouts(
  { config }: LoopContext,
  step: number,
  sets: readonly TaskRollouts[],
): void {
  const episodes = sets.flatMap((set) => set.episodes);
  checkFailures(episodes, config.trainer.maxFailedFraction, `step ${step}`);
}
