/** Runs that differ in their seed alone, as one setting with a mean and a range; pure. */
import { groupBy } from "../../util/group-by.ts";
import type { RunsApart } from "../api/comparisons.ts";
import type { RunEntry } from "../api/runs.ts";
import { type DifferingOption, differingOptions } from "./differing-options.ts";

export interface Range {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

export interface Setting {
  readonly group: number;
  readonly runs: readonly RunEntry[];
  /** What sets it apart from the others, without seeds. */
  readonly options: readonly DifferingOption[];
  /** Rewards of the last steps and of the best validations; null where no run has one. */
  readonly last: Range | null;
  readonly best: Range | null;
}

function rangeOf(values: readonly (number | null | undefined)[]): Range | null {
  const known = values.filter((value) => typeof value === "number");
  if (known.length === 0) return null;
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  return { mean, low: Math.min(...known), high: Math.max(...known) };
}

/** Best validation decides, else the last reward; those with neither come last. */
const rank = ({ best, last }: Setting): number => (best ?? last)?.mean ?? -Infinity;

/** The best first; none where all runs have one setting, or no two have the same. */
export function settingsOf(runs: readonly RunEntry[], apart: RunsApart | null): readonly Setting[] {
  if (apart === null) return [];
  const groups = groupBy(runs, ({ key }) => apart.groups[key] ?? key);
  if (groups.size < 2 || groups.size === runs.length) return [];
  const settings = [...groups].map(([group, members]): Setting => ({
    group,
    runs: members,
    options: differingOptions(apart, members[0]!.key, false),
    last: rangeOf(members.map(({ lastReward }) => lastReward)),
    best: rangeOf(members.map(({ bestValidation }) => bestValidation?.value)),
  }));
  return settings.toSorted((a, b) => rank(b) - rank(a));
}

/** `learning_rate 0.001, loss cispo` */
export const settingName = (options: readonly DifferingOption[]): string =>
  options.map(({ name, value }) => `${name} ${value}`).join(", ");
