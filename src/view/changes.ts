/** The same tasks at the first and at the newest step that has them: what training changed. Pure. */
import type { EpisodePhase } from "./api/episodes.ts";
import type { RunChanges } from "./api/tasks.ts";
import type { TaskCell } from "./index/query.ts";

const maxTasks = 20;
/** Less is no change. */
const leastChange = 1e-9;

/**
 * Validations are compared from the first to the last one. Training samples other tasks in each step, so there it
 * is each task's first and last visit.
 *
 * @param cells by task, then by step
 */
export function runChanges(
  cells: readonly TaskCell[],
  phase: EpisodePhase,
  questions: (numbers: readonly number[]) => ReadonlyMap<number, string>,
): RunChanges {
  const ends = new Map<string, { first: TaskCell; last: TaskCell }>();
  for (const cell of cells) {
    if (cell.reward === null) continue;
    const known = ends.get(cell.task);
    if (known === undefined) ends.set(cell.task, { first: cell, last: cell });
    else known.last = cell;
  }
  const pairs = [...ends.values()].filter(({ first, last }) => first.step < last.step);
  if (pairs.length === 0) return null;
  const changeOf = ({ first, last }: (typeof pairs)[number]): number =>
    (last.reward ?? 0) - (first.reward ?? 0);
  const better = pairs.filter((pair) => changeOf(pair) > leastChange).length;
  const worse = pairs.filter((pair) => changeOf(pair) < -leastChange).length;
  const shown = pairs
    .toSorted((a, b) => {
      const [one, other] = [changeOf(a), changeOf(b)];
      return Math.abs(other) - Math.abs(one) || other - one;
    })
    .slice(0, maxTasks);
  const texts = questions(shown.map(({ first }) => first.n));
  return {
    phase,
    fromStep: pairs.reduce((least, { first }) => Math.min(least, first.step), Infinity),
    toStep: pairs.reduce((most, { last }) => Math.max(most, last.step), 0),
    better,
    worse,
    same: pairs.length - better - worse,
    tasks: shown.map(({ first, last }) => ({
      task: first.task,
      question: texts.get(first.n) ?? "",
      before: { n: first.n, reward: first.reward ?? 0 },
      now: { n: last.n, reward: last.reward ?? 0 },
    })),
  };
}
