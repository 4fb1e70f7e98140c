/** What a synchronous step trains on: one batch, or with rejection sampling as many as it takes. */
import type { Episode } from "../../core/trajectory.ts";
import { checkRollouts, runBatch } from "./batch-rollouts.ts";
import type { LoopContext } from "../loop-context.ts";
import { assessTask, SolveCounts } from "./rejection.ts";
import { episodesOf, type TaskRollouts } from "../../rollouts/task-rollouts.ts";

export interface Collected {
  readonly sets: readonly TaskRollouts[];
  /** Groups of rollouts that are left for later steps. */
  readonly waiting: readonly TaskRollouts[];
  /** Every rollout that was run for this step. */
  readonly episodes: readonly Episode[];
  /** Batches begun so far, over the whole run. */
  readonly batches: number;
  readonly metrics: Readonly<Record<string, number>>;
}

/** Collects for step `step`, after `batches` batches and with what earlier steps left. */
export async function collectRollouts(
  context: LoopContext,
  step: number,
  batches: number,
  left: readonly TaskRollouts[],
): Promise<Collected> {
  const { config, emit, journal } = context;
  const { enable, maxBatches } = config.rejectionSample;
  const size = config.data.trainBatchSize;
  const needed = enable ? (config.rejectionSample.minPartialSolveTasks ?? size) : 1;
  const chosen = [...left];
  const episodes: Episode[] = [];
  const counts = new SolveCounts();
  const tasks = context.batches.batchSize;
  const rollouts = tasks * config.rollout.n;
  emit(step, { type: "step-start", tasks, rollouts });
  let begun = 0;
  while (chosen.length < needed && begun < (enable ? maxBatches : 1)) {
    begun++;
    if (begun > 1) emit(step, { type: "rollouts-added", tasks, rollouts });
    const sets = await runBatch(context, step, batches + begun);
    episodes.push(...episodesOf(sets));
    journal.episodes(step, "train", episodes);
    checkRollouts(context, step, sets);
    for (const set of sets) {
      if (!enable) {
        chosen.push(set);
        continue;
      }
      const assessed = assessTask(config, set);
      counts.add(assessed);
      if (assessed.isUseful) chosen.push(set);
    }
  }
  if (!enable) {
    return { sets: chosen, waiting: [], episodes, batches: batches + begun, metrics: {} };
  }
  const waiting = chosen.slice(size);
  return {
    sets: chosen.slice(0, size),
    waiting,
    episodes,
    batches: batches + begun,
    metrics: {
      ...counts.metrics(),
      "rejection_sample/batches": begun,
      "rejection_sample/waiting_tasks": waiting.length,
    },
  };
}
