/** Parts of a dataset: a shuffled one, a shard, the first tasks, a random fraction. */
import { ConfigError } from "../../core/errors.ts";
import type { Dataset, Task } from "../../core/task.ts";
import { createRandom, deriveSeed, shuffled } from "../../util/random.ts";

/** One of several parts of equal size. */
export interface Shard {
  /** From 0. */
  readonly index: number;
  readonly count: number;
}

/** Which tasks of a dataset to keep, in this order. */
export interface SelectOptions {
  /** Shuffle the tasks by the seed. @default false */
  readonly shuffle?: boolean;
  /** @default 0 */
  readonly seed?: number;
  /** Keep every `count`-th task, from the one at `index`. @default all */
  readonly shard?: Shard | null;
  /** Keep this many tasks at most. @default all */
  readonly limit?: number | null;
}

/** The tasks at these positions, in this order. */
const pick = <Metadata>(
  dataset: Dataset<Metadata>,
  indices: readonly number[],
): Dataset<Metadata> => indices.map((index) => dataset.at(index) as Task<Metadata>);

const positions = ({ length }: Dataset<unknown>): number[] => Array.from({ length }, (_, i) => i);

/** @throws ConfigError for a shard that does not exist. */
export function select<Metadata>(
  dataset: Dataset<Metadata>,
  { shuffle = false, seed = 0, shard = null, limit = null }: SelectOptions,
): Dataset<Metadata> {
  let chosen = positions(dataset);
  if (shuffle) chosen = shuffled(chosen, createRandom(deriveSeed(seed, "dataset-shuffle")));
  if (shard !== null) {
    const { index, count } = shard;
    if (!Number.isInteger(index) || !Number.isInteger(count) || index < 0 || index >= count) {
      throw new ConfigError({
        message: `There is no shard ${index} of ${count}.`,
        hint: "Shards are numbered from 0: the first of four is { index: 0, count: 4 }.",
        fields: { index, count },
      });
    }
    chosen = chosen.filter((_, place) => place % count === index);
  }
  if (limit !== null) chosen = chosen.slice(0, limit);
  return chosen.length === dataset.length && !shuffle ? dataset : pick(dataset, chosen);
}

/** The two parts of a dataset, each in the dataset's own order. */
export interface SplitDataset<Metadata> {
  readonly train: Dataset<Metadata>;
  readonly val: Dataset<Metadata>;
}

/**
 * Splits a random fraction off a dataset for validation. The same tasks, fraction and seed give the same
 * parts.
 *
 * @param fraction of the tasks that go to `val`, from 0 to 1; rounded, but at least one task each.
 *
 * @example
 * const { train, val } = splitDataset(await loadDataset("tasks.jsonl"), 0.1, 42);
 *
 * @throws ConfigError for a fraction outside of 0 to 1, or fewer than two tasks.
 */
export function splitDataset<Metadata>(
  dataset: Dataset<Metadata>,
  fraction: number,
  seed = 0,
): SplitDataset<Metadata> {
  const { length } = dataset;
  if (!(fraction > 0 && fraction < 1) || length < 2) {
    throw new ConfigError({
      message: `${length} tasks cannot be split at the fraction ${fraction}.`,
      hint: "Use a fraction above 0 and below 1, and at least two tasks.",
      fields: { length, fraction },
    });
  }
  const count = Math.min(length - 1, Math.max(1, Math.round(length * fraction)));
  const random = createRandom(deriveSeed(seed, "dataset-split"));
  const held = new Set(shuffled(positions(dataset), random).slice(0, count));
  return {
    train: pick(
      dataset,
      positions(dataset).filter((index) => !held.has(index)),
    ),
    val: pick(
      dataset,
      positions(dataset).filter((index) => held.has(index)),
    ),
  };
}
