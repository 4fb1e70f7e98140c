/**
 * Batches of the tasks that teach most now: a group of rollouts teaches where some are solved and some are not, so
 * tasks are chosen by p (1 - p) of their solve rate p (`data.curriculum=solve_rate`). Tasks of a batch are a
 * function of the seed, of its number, and of what was observed before it is first asked for.
 */
import { isScored } from "../core/outcome.ts";
import type { Dataset, Task } from "../core/task.ts";
import type { TaskRollouts } from "../rollouts/task-rollouts.ts";
import { createBeta } from "../util/beta.ts";
import { createRandom, deriveSeed } from "../util/random.ts";
import type { AdaptiveBatches, CurriculumState } from "./adaptive-batches.ts";
import type { BatchPlan } from "./batches.ts";
import { SolveRates } from "./solve-rates.ts";

/** Consecutive tasks of the dataset. */
interface TaskRange {
  readonly first: number;
  readonly length: number;
}

export interface AdaptivePlanOptions {
  readonly batchSize: number;
  readonly seed: number;
  readonly groupKey: string | null;
  /** Which tasks a place of the run is for. @default all */
  readonly rangeAt?: (place: number) => TaskRange;
  readonly before?: CurriculumState | undefined;
}

/** Index of the estimate of each task. */
function estimatesOf(tasks: Dataset, groupKey: string | null): Int32Array {
  const groups = new Map<string, number>();
  const estimates = new Int32Array(tasks.length);
  let i = 0;
  for (const { metadata } of tasks) {
    const value = groupKey === null ? i : JSON.stringify(metadata[groupKey] ?? null);
    const key = String(value);
    if (!groups.has(key)) groups.set(key, groups.size);
    estimates[i++] = groups.get(key)!;
  }
  return estimates;
}

/** How far a group of rollouts was solved, from 0 to 1 each; null where none was scored. */
function solvedOf({ episodes }: TaskRollouts): { solved: number; attempts: number } | null {
  const scored = episodes.filter(isScored);
  if (scored.length === 0) return null;
  const solved = scored.reduce((sum, { isCorrect, reward }) => {
    const share = isCorrect === null ? Math.min(1, Math.max(0, reward ?? 0)) : Number(isCorrect);
    return sum + share;
  }, 0);
  return { solved, attempts: scored.length };
}

export function createAdaptivePlan(
  tasks: Dataset,
  options: AdaptivePlanOptions,
): BatchPlan<Task> & { readonly adaptive: AdaptiveBatches } {
  const { seed, groupKey, before } = options;
  const count = tasks.length;
  const batchSize = Math.min(options.batchSize, count);
  const all: TaskRange = { first: 0, length: count };
  const rangeAt = options.rangeAt ?? (() => all);
  const estimates = estimatesOf(tasks, groupKey);
  const indices = new Map<string, number>();
  for (const { id } of tasks) indices.set(id, indices.size);
  const isSame = before?.groupKey === groupKey;
  const rates = new SolveRates(new Set(estimates).size, isSame ? before.evidence : []);
  const batches = new Map<number, readonly number[]>(before?.begun ?? []);
  let newest = before?.batch ?? 0;
  let since = { groups: 0, informative: 0 };

  /** The tasks of a range from the one that teaches most, by a sample of each posterior (Thompson sampling). */
  function ranked({ first, length }: TaskRange, random: () => number): readonly number[] {
    const beta = createBeta(random);
    const scores = Array.from({ length }, (_, i) => {
      const { a, b } = rates.posterior(estimates[first + i]!, newest);
      const p = beta(a, b);
      return { index: first + i, score: p * (1 - p) };
    });
    return scores.sort((x, y) => y.score - x.score).map(({ index }) => index);
  }

  function sampleBatch(batch: number): readonly number[] {
    newest = Math.max(newest, batch);
    const random = createRandom(deriveSeed(seed, "curriculum", batch));
    const orders = new Map<number, Iterator<number>>();
    return Array.from({ length: batchSize }, (_, i) => {
      const range = rangeAt((batch - 1) * batchSize + i);
      const order = orders.get(range.first) ?? ranked(range, random).values();
      orders.set(range.first, order);
      return order.next().value as number;
    });
  }

  return {
    batchSize,
    batch(number) {
      let chosen = batches.get(number);
      // One that was begun with another size is no batch of this run.
      if (chosen?.length !== batchSize) {
        chosen = sampleBatch(number);
        batches.set(number, chosen);
      }
      return chosen.map((index) => tasks.at(index) as Task);
    },
    cursor(number) {
      const position = number * batchSize;
      return { epoch: Math.floor(position / count), offset: position % count };
    },
    adaptive: {
      observe(rollouts) {
        const found = solvedOf(rollouts);
        const index = indices.get(rollouts.episodes[0]?.task.id ?? "");
        if (found === null || index === undefined) return;
        const { solved, attempts } = found;
        rates.observe(estimates[index]!, solved, attempts, newest);
        since.groups++;
        if (solved > 0 && solved < attempts) since.informative++;
      },
      metrics() {
        const { groups, informative } = since;
        since = { groups: 0, informative: 0 };
        return {
          ...rates.metrics(newest),
          ...(groups === 0 ? {} : { "curriculum/informative_fraction": informative / groups }),
        };
      },
      snapshot(needed) {
        const begun = needed.flatMap((number) => {
          const chosen = batches.get(number);
          return chosen === undefined ? [] : [[number, chosen] as const];
        });
        return { groupKey, batch: newest, evidence: rates.evidence, begun };
      },
    },
  };
}
