/**
 * Batches from several sources: a function of the seed and the place of a task in the run, as batches of one
 * dataset are. Of the first n tasks of a run, each source has its share of n to less than one task, so that
 * every batch has exact quotas where they are whole numbers. No task occurs twice in a batch.
 */
import { ConfigError } from "../core/errors.ts";
import type { TrainConfig } from "../config/train-config.ts";
import type { Dataset, Task } from "../core/task.ts";
import { MixedTasks } from "../datasets/tasks/mixed-tasks.ts";
import { createRandom, deriveSeed, shuffled } from "../util/random.ts";
import type { CurriculumState } from "./adaptive-batches.ts";
import { type AdaptivePlanOptions, createAdaptivePlan } from "./adaptive-plan.ts";
import { type BatchPlan, createBatchPlan } from "./batches.ts";
import type { TaskOrder } from "./checkpoint.ts";
import { plannedOrders } from "./task-orders.ts";

export interface MixturePlanOptions {
  readonly batchSize: number;
  readonly seed: number;
  /** Tasks of a lower rank come earlier in each epoch of their source. @default all equal */
  readonly rank?: (task: Task) => number;
}

/**
 * Which source each place belongs to: Tijdeman's solution of the chairman assignment problem (Discrete
 * Mathematics 32, 1980), whose counts differ from the shares by at most 1 - 1 / (2k - 2) for k sources.
 */
export class SourceOrder {
  readonly #shares: readonly number[];
  readonly #sources: number[] = [];
  /** Places of each source so far. */
  readonly #counts: number[];
  /** Of each place, how many of its source come before it. */
  readonly #ranks: number[] = [];

  constructor(weights: readonly number[]) {
    const sum = weights.reduce((total, weight) => total + weight, 0);
    this.#shares = weights.map((weight) => weight / sum);
    this.#counts = weights.map(() => 0);
  }

  /** The source of a place, and how many places of that source come before it. */
  at(place: number): { readonly source: number; readonly before: number } {
    while (this.#sources.length <= place) this.#choose();
    return { source: this.#sources[place]!, before: this.#ranks[place]! };
  }

  #choose(): void {
    const n = this.#sources.length + 1;
    const k = this.#shares.length;
    const least = k === 1 ? 0 : 1 / (2 * k - 2);
    // A share of 1/3 has no exact double: a debt that is short of the limit by rounding counts.
    const tolerance = 1e-9 * n;
    let chosen = 0;
    let soonest = Infinity;
    for (const [source, share] of this.#shares.entries()) {
      const debt = share * n - this.#counts[source]!;
      // How long it may still wait.
      const wait = (1 - least - debt) / share;
      if (debt < least - tolerance || wait >= soonest - tolerance) continue;
      [chosen, soonest] = [source, wait];
    }
    this.#sources.push(chosen);
    this.#ranks.push(this.#counts[chosen]!++);
  }
}

/** The order in which the tasks of one source are taken, in which any `window` in a row are different. */
class SourceTasks {
  readonly #length: number;
  readonly #inOrder: (epoch: number) => readonly number[];
  readonly #window: number;
  readonly #epochs: number[][] = [];

  constructor(length: number, window: number, inOrder: (epoch: number) => readonly number[]) {
    [this.#length, this.#window, this.#inOrder] = [length, window, inOrder];
  }

  at(place: number): number {
    const epoch = Math.floor(place / this.#length);
    while (this.#epochs.length <= epoch) this.#epochs.push(this.#next());
    return this.#epochs[epoch]![place % this.#length]!;
  }

  #next(): number[] {
    const fresh = this.#inOrder(this.#epochs.length);
    const before = this.#epochs.at(-1) ?? [];
    const head: number[] = [];
    const left = new Set(fresh);
    for (let i = 0; before.length > 0 && i < this.#window - 1; i++) {
      const recent = new Set(before.slice(before.length - (this.#window - 1 - i)));
      const next = fresh.find((index) => left.has(index) && !recent.has(index))!;
      head.push(next);
      left.delete(next);
    }
    return [...head, ...left];
  }
}

/** Most tasks of a source in a batch: its share, where that is a whole number, else what the bound allows. */
function maxQuota(share: number, sources: number, batchSize: number): number {
  const whole = Math.round(share);
  if (sources === 1 || Math.abs(share - whole) < 1e-9) return whole;
  return Math.min(batchSize, Math.floor(share + 2 - 1 / (sources - 1) + 1e-9));
}

interface Sources {
  readonly places: SourceOrder;
  /** Index of the first task of each. */
  readonly starts: readonly number[];
  /** Most tasks of each in a batch. */
  readonly quotas: readonly number[];
}

/** @throws ConfigError for a source with fewer tasks than it has in a batch. */
function sourcesOf({ parts }: MixedTasks, batchSize: number): Sources {
  const weights = parts.map(({ weight }) => weight);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const starts = parts.map((_, i) =>
    parts.slice(0, i).reduce((total, { tasks }) => total + tasks.length, 0),
  );
  const quotas = parts.map(({ name, weight, tasks }) => {
    const quota = maxQuota((batchSize * weight) / sum, parts.length, batchSize);
    if (tasks.length < quota) {
      throw new ConfigError({
        message: `The source ${name} of dataset.sources has ${tasks.length} tasks, but a batch of ${batchSize} may take ${quota} of it.`,
        hint: "Give it more tasks or a smaller weight, or make batches smaller: data.train_batch_size.",
        fields: { source: name, tasks: tasks.length, quota },
      });
    }
    return quota;
  });
  return { places: new SourceOrder(weights), starts, quotas };
}

/** @throws ConfigError for a source with fewer tasks than it has in a batch. */
export function createMixturePlan(
  mixed: MixedTasks,
  { batchSize, seed, rank }: MixturePlanOptions,
): BatchPlan<Task> {
  const { parts, length } = mixed;
  const { places, starts, quotas } = sourcesOf(mixed, batchSize);
  const orders = parts.map(({ name, tasks }, i) => {
    const ranks = rank === undefined ? null : Array.from(tasks, rank);
    return new SourceTasks(tasks.length, quotas[i]!, (epoch) => {
      const all = Array.from({ length: tasks.length }, (_, index) => index);
      const order = shuffled(all, createRandom(deriveSeed(seed, "data", name, epoch)));
      return ranks === null ? order : order.sort((a, b) => ranks[a]! - ranks[b]!);
    });
  });
  return {
    batchSize,
    batch: (step) =>
      Array.from({ length: batchSize }, (_, i) => {
        const { source, before } = places.at((step - 1) * batchSize + i);
        return mixed.at(starts[source]! + orders[source]!.at(before))!;
      }),
    cursor(step) {
      const position = step * batchSize;
      return { epoch: Math.floor(position / length), offset: position % length };
    },
  };
}

/** The place of a task decides its source. */
function rangesOf(tasks: Dataset, batchSize: number): Pick<AdaptivePlanOptions, "rangeAt"> {
  if (!(tasks instanceof MixedTasks)) return {};
  const { places, starts } = sourcesOf(tasks, batchSize);
  return {
    rangeAt(place) {
      const { source } = places.at(place);
      return { first: starts[source]!, length: tasks.parts[source]!.tasks.length };
    },
  };
}

/**
 * The batches of a run, of one dataset or of several.
 * @param before what a checkpoint holds of solve rates
 * @throws ConfigError where the order changed on resume, which a mixture cannot continue, and nothing can after
 * `data.curriculum=solve_rate`.
 */
export function planBatches(
  tasks: Dataset,
  batchSize: number,
  orders: readonly TaskOrder[],
  { curriculum }: Pick<TrainConfig["data"], "curriculum">,
  before?: CurriculumState,
): BatchPlan<Task> {
  const { earlier = [], ...order } = plannedOrders(orders);
  if (curriculum.type === "solve_rate") {
    const { groupKey } = curriculum;
    const size = Math.min(batchSize, tasks.length);
    const ranges = rangesOf(tasks, size);
    const { seed } = order;
    return createAdaptivePlan(tasks, { batchSize: size, seed, groupKey, before, ...ranges });
  }
  if (orders.some((one) => one.curriculum === "solve_rate")) {
    throw new ConfigError({
      message: `data.curriculum cannot change from solve_rate to ${curriculum.type} when a run is resumed: it has no epoch to continue.`,
      hint: "Use the same value, or start a new run.",
    });
  }
  if (!(tasks instanceof MixedTasks))
    return createBatchPlan(tasks, { batchSize, ...order, earlier });
  if (earlier.length === 0) return createMixturePlan(tasks, { batchSize, ...order });
  throw new ConfigError({
    message:
      "data.seed and data.curriculum cannot change when a run on dataset.sources is resumed.",
    hint: "Use the same values, or start a new run.",
  });
}
