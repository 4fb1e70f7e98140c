/**
 * Which tasks a step works on: a function of the seed and the step, so a resumed run needs no other
 * position. Epochs are concatenated and cut into batches of equal size; the last batch of an epoch is
 * completed from the next one. No task occurs twice in a batch.
 */
import { ConfigError } from "../core/errors.ts";
import type { Task } from "../core/task.ts";
import { createRandom, deriveSeed, shuffled } from "../util/random.ts";
import type { TrainConfig } from "../config/train-config.ts";
import type { AdaptiveBatches } from "./adaptive-batches.ts";

/** Where the next batch begins. */
interface DataCursor {
  /** From 0. */
  readonly epoch: number;
  /** Tasks of that epoch already used. */
  readonly offset: number;
}

/** Batches of one dataset. */
export interface BatchPlan<T> {
  /** Tasks per step: the configured size, or the whole dataset when that is smaller. */
  readonly batchSize: number;
  /** Tasks of step `step`, from 1. */
  batch(step: number): readonly T[];
  /** Position after `step` steps. */
  cursor(step: number): DataCursor;
  /** Of a plan that learns from rollouts which tasks come next. */
  readonly adaptive?: AdaptiveBatches;
}

/** What decides the order of the tasks of an epoch. */
interface BatchOrder<T> {
  readonly seed: number;
  /** Tasks of a lower rank come earlier in each epoch. @default all equal */
  readonly rank?: (task: T) => number;
}

export interface BatchPlanOptions<T> extends BatchOrder<T> {
  readonly batchSize: number;
  /**
   * Orders before this one, oldest first: each until so many tasks were begun. An epoch that was begun goes
   * on with the tasks that it has left, in the new order. @default none
   */
  readonly earlier?: readonly (BatchOrder<T> & { readonly until: number })[];
}

/** Steps that cover the dataset `epochs` times; the last one may begin another pass. */
export function stepsForEpochs(tasks: number, batchSize: number, epochs: number): number {
  return Math.ceil((tasks * epochs) / Math.min(batchSize, tasks));
}

/** An array, or a mixture of several. */
interface Indexed<T> extends Iterable<T> {
  readonly length: number;
  at(index: number): T | undefined;
}

/** Plans the batches of `tasks`, which are not changed and must not be empty. */
export function createBatchPlan<T>(tasks: Indexed<T>, options: BatchPlanOptions<T>): BatchPlan<T> {
  const count = tasks.length;
  const batchSize = Math.min(options.batchSize, count);
  const orders: number[][] = [];
  const positions = Array.from({ length: count }, (_, position) => position);
  const parts = [...(options.earlier ?? []), { ...options, until: Infinity }].map(
    ({ seed, rank, until }) => {
      const ranks = rank === undefined ? null : Array.from(tasks, (task) => rank(task));
      const inOrder = (epoch: number): readonly number[] => {
        const anyOrder = shuffled(positions, createRandom(deriveSeed(seed, "data", epoch)));
        return ranks === null
          ? anyOrder
          : anyOrder.sort((a, b) => (ranks[a] as number) - (ranks[b] as number));
      };
      return { inOrder, until };
    },
  );

  /** Indices of one epoch. Tasks that the straddling batch already holds are moved behind that batch. */
  function order(epoch: number): readonly number[] {
    while (orders.length <= epoch) {
      const number = orders.length;
      const begins = count * number;
      const [{ inOrder, until }, ...later] = parts.filter((part) => part.until > begins) as [
        (typeof parts)[number],
        ...typeof parts,
      ];
      const fresh = inOrder(number);
      const left = begins % batchSize;
      const inBatch = new Set(left === 0 ? [] : orders[number - 1]?.slice(-left));
      const head = fresh
        .filter((index) => !inBatch.has(index))
        .slice(0, left === 0 ? 0 : batchSize - left);
      const rest = (taken: readonly number[], all: readonly number[]): number[] => {
        const isTaken = new Set(taken);
        return [...taken, ...all.filter((index) => !isTaken.has(index))];
      };
      let used = until - begins;
      let whole = rest(head, fresh);
      for (const part of later) {
        if (used >= count) break;
        whole = rest(whole.slice(0, used), part.inOrder(number));
        used = part.until - begins;
      }
      orders.push(whole);
    }
    return orders[epoch] as number[];
  }

  return {
    batchSize,
    batch(step) {
      const start = (step - 1) * batchSize;
      return Array.from({ length: batchSize }, (_, i) => {
        const position = start + i;
        return tasks.at(order(Math.floor(position / count))[position % count] as number) as T;
      });
    },
    cursor(step) {
      const position = step * batchSize;
      return { epoch: Math.floor(position / count), offset: position % count };
    },
  };
}

/** Tasks by difficulty, as given in their metadata: `rank` of `createBatchPlan`; nothing without a curriculum. */
export function curriculumRank({
  curriculum,
  difficultyKey = "difficulty",
}: {
  readonly curriculum: TrainConfig["data"]["curriculum"]["type"];
  readonly difficultyKey?: string;
}): {
  readonly rank?: (task: Task) => number;
} {
  // Solve rates order nothing before the run.
  if (curriculum === "none" || curriculum === "solve_rate") return {};
  const sign = curriculum === "easy_first" ? 1 : -1;
  return { rank: (task) => sign * difficultyOf(task, difficultyKey) };
}

/** @throws ConfigError when the task has no such number. */
function difficultyOf(task: Task, key: string): number {
  const value = task.metadata[key];
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new ConfigError({
    message: `data.curriculum needs a number in metadata.${key} of every training task, but that of task "${task.id}" is ${JSON.stringify(value) ?? "missing"}.`,
    hint: "Add it to the data, name another field in data.curriculum.difficulty_key, or set data.curriculum=none.",
    fields: { taskId: task.id, key, value },
  });
}
