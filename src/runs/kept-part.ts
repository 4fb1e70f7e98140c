/** Which part of a step is kept on disk where not all of it is: that of a few tasks, the same in every run. */
import { groupBy } from "../util/group-by.ts";
import { deriveSeed } from "../util/random.ts";

export interface KeptPartOptions<T> {
  readonly taskOf: (item: T) => string;
  /** Items to keep; -1 keeps all. */
  readonly limit: number;
  /** Of the run. */
  readonly seed: number;
  readonly step: number;
}

/**
 * Items of whole tasks, as far as there is room: rollouts of a task are compared with each other. Tasks are in
 * the same order for all that is kept of a step.
 */
export function keptPart<T>(
  items: readonly T[],
  { taskOf, limit, seed, step }: KeptPartOptions<T>,
): readonly T[] {
  if (limit === -1 || items.length <= limit) return items;
  const rank = (task: string): number => deriveSeed(seed, "kept-part", step, task);
  return [...groupBy(items, taskOf)]
    .toSorted(([a], [b]) => rank(a) - rank(b))
    .flatMap(([, own]) => own)
    .slice(0, limit);
}
