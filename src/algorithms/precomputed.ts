/**
 * Advantages that flows report themselves, per step or per token: distilled ones, those of
 * a process reward model, or any other. Groups with any of them skip the estimator.
 */
import type { Step, TrajectoryGroup } from "../core/trajectory.ts";
import type { StepAdvantage } from "./rows/rows.ts";
import { summarize } from "./statistics.ts";

export interface PrecomputedResult {
  /** [member][step] of the groups that have any; `null` for steps without one, which are not trained. */
  readonly byGroup: ReadonlyMap<TrajectoryGroup, readonly (readonly StepAdvantage[])[]>;
  /**
   * `advantage/{role}/...` over sampled tokens; `advantage/precomputed_groups`, or where they are not
   * used `advantage/precomputed_ignored`, both only when there are any.
   */
  readonly metrics: Readonly<Record<string, number>>;
}

/** Whether any step of the group brings its advantage along. */
export const hasPrecomputed = ({ members }: TrajectoryGroup): boolean =>
  members.some(({ trajectory }) => trajectory.steps.some((step) => step.advantage !== undefined));

function tokenValues({ advantage, trace }: Step): readonly number[] {
  if (advantage === undefined) return [];
  if (typeof advantage !== "number") return advantage;
  return Array.from({ length: trace.responseIds.length }, () => advantage);
}

export function precomputedAdvantages(
  groups: readonly TrajectoryGroup[],
  isUsed: boolean,
): PrecomputedResult {
  const given = groups.filter(hasPrecomputed);
  if (given.length === 0) return { byGroup: new Map(), metrics: {} };
  if (!isUsed) {
    return { byGroup: new Map(), metrics: { "advantage/precomputed_ignored": given.length } };
  }
  const byRole = new Map<string, number[]>();
  for (const { name, members } of given) {
    const values = byRole.get(name) ?? [];
    byRole.set(name, values);
    for (const { trajectory } of members) {
      for (const step of trajectory.steps) {
        for (const value of tokenValues(step)) if (Number.isFinite(value)) values.push(value);
      }
    }
  }
  const summaries = [...byRole].map(([role, values]) => summarize(`advantage/${role}`, values));
  return {
    byGroup: new Map(
      given.map((group) => [
        group,
        group.members.map(({ trajectory }) =>
          trajectory.steps.map(({ advantage }) => advantage ?? null),
        ),
      ]),
    ),
    metrics: Object.assign({ "advantage/precomputed_groups": given.length }, ...summaries),
  };
}
