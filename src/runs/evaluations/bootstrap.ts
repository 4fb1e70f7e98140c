/** Percentile bootstrap over tasks: attempts at one task are not independent, so tasks are resampled whole. */
import { createRandom } from "../../util/random.ts";

/** What a task adds to a mean: the sum of its values, and their number. */
export interface TaskTotal {
  readonly sum: number;
  readonly count: number;
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Enough for the second digit of a bound of 95 %. */
const resamples = 2_000;

/** The means of resampled tasks, ascending. */
function resampledMeans(tasks: readonly TaskTotal[], seed: number): Float64Array {
  const random = createRandom(seed);
  // Lists of numbers: with many tasks, objects take several times as long.
  const sums = Float64Array.from(tasks, (task) => task.sum);
  const counts = Float64Array.from(tasks, (task) => task.count);
  const means = new Float64Array(resamples);
  for (let at = 0; at < resamples; at++) {
    let sum = 0;
    let count = 0;
    for (let i = 0; i < sums.length; i++) {
      const index = Math.floor(random() * sums.length);
      sum += sums[index] as number;
      count += counts[index] as number;
    }
    means[at] = count === 0 ? 0 : sum / count;
  }
  return means.sort();
}

/** The value below which a share of ascending values lies. */
function quantile(sorted: Float64Array, share: number): number {
  const position = share * (sorted.length - 1);
  const below = sorted[Math.floor(position)] as number;
  const above = sorted[Math.ceil(position)] as number;
  return below + (above - below) * (position - Math.floor(position));
}

/** 95 % confidence interval of the mean over all values; `tasks` must not be empty. */
export function confidenceInterval(tasks: readonly TaskTotal[], seed: number): Interval {
  const means = resampledMeans(tasks, seed);
  return { low: quantile(means, 0.025), high: quantile(means, 0.975) };
}
