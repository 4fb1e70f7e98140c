/** Which runs one chart shows, and in which colors; those that differ in their seed alone may share a line. */
import type { RunEntry } from "../api/runs.ts";
import type { RunsApart } from "../api/comparisons.ts";

/** Metrics of at most so many runs are read. */
export const maxRuns = 32;
/** As many as there are colors. */
export const maxLines = 8;

/** Whether some of the runs differ in their seed alone. */
export function haveSeeds(runs: readonly RunEntry[], apart: RunsApart | null): boolean {
  const groups = runs.map(({ key }) => apart?.groups[key] ?? key);
  return new Set(groups).size < groups.length;
}

const groupOf = ({ key }: RunEntry, joined: RunsApart | null): number => joined?.groups[key] ?? key;

/** Color of a run's curve, from 1; 0 where it is not overlaid. Runs that are joined to a band share one. */
export function colorOf(
  run: RunEntry,
  runs: readonly RunEntry[],
  joined: RunsApart | null,
): number {
  if (!runs.includes(run)) return 0;
  const groups = [...new Set(runs.map((one) => groupOf(one, joined)))];
  return 1 + groups.indexOf(groupOf(run, joined));
}

/** The first of `runs` that one chart can show: many seeds are few lines. */
export function fitting(runs: readonly RunEntry[], joined: RunsApart | null): readonly RunEntry[] {
  const groups = new Set<number>();
  const kept = runs.filter((run) => {
    const group = groupOf(run, joined);
    if (groups.size < maxLines) groups.add(group);
    return groups.has(group);
  });
  return kept.slice(0, maxRuns);
}
