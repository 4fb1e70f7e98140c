/** A validation: rolls out every validation task, with the same seeds each time, without training. */
import type { TrainConfig } from "../../config/train-config.ts";
import { isFault } from "../../core/outcome.ts";
import type { Task } from "../../core/task.ts";
import type { Episode } from "../../core/trajectory.ts";
import { deriveSeed } from "../../util/random.ts";
import { checkFailures } from "../../rollouts/service/failures.ts";
import type { LoopContext } from "../loop-context.ts";
import type { RolloutRequest } from "../../rollouts/rollout-request.ts";
import { validationMetrics } from "../../runs/validation-metrics.ts";

/** `rollout.nVal` rollouts of each task; seeds depend on the task alone. `name`: first part of their ids. */
export function validationRequests(
  { rollout, trainer }: Pick<TrainConfig, "rollout" | "trainer">,
  tasks: readonly Task[],
  name: string,
): RolloutRequest[] {
  return tasks.flatMap((task) =>
    Array.from({ length: rollout.nVal }, (_, rolloutIndex) => ({
      task,
      rolloutIndex,
      episodeId: `${name}/${task.id}/${rolloutIndex}`,
      seed: deriveSeed(trainer.seed, "val", task.id, rolloutIndex),
    })),
  );
}

/** Validates the weights after step `step` and logs the result. */
export async function runValidation(
  context: LoopContext,
  step: number,
): Promise<Readonly<Record<string, number>>> {
  const { config, emit, journal, signal } = context;
  const start = performance.now();
  const requests = validationRequests(config, context.valTasks, `val-${step}`);
  const { valBatchSize } = config.data;
  const chunk = valBatchSize === -1 ? requests.length : valBatchSize * config.rollout.nVal;
  const episodes: Episode[] = [];
  const mostFailed = requests.length * config.trainer.maxFailedFraction;
  let failed = 0;
  for (let from = 0; from < requests.length && failed <= mostFailed; from += chunk) {
    const done = await context.rollouts(requests.slice(from, from + chunk), {
      isValidation: true,
      signal,
      maxFailures: mostFailed - failed,
      onEvent: (event) => emit(step, event),
    });
    signal.throwIfAborted();
    episodes.push(...done);
    failed += done.filter(isFault).length;
  }
  journal.episodes(step, "validation", episodes);
  await journal.flush();
  const where = `the validation after step ${step}`;
  checkFailures(episodes, config.trainer.maxFailedFraction, where, requests.length);
  const { nVal, failureReward } = config.rollout;
  const metrics = {
    ...validationMetrics(episodes, nVal, failureReward),
    "time/validation_s": (performance.now() - start) / 1000,
  };
  journal.metrics(step, "validation", metrics);
  emit(step, { type: "validation-end", metrics, episodes });
  return metrics;
}
