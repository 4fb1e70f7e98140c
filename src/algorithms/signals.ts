/** Several rewards: the named numbers of rollouts that an estimator normalizes apart, in columns. */
import { isUniform, mean, populationStd } from "./statistics.ts";

type Signals = Readonly<Record<string, number>>;

/** The name that stands for the reward itself, with what options add to it. */
export const rewardSignal = "reward";

/** One signal of all rollouts of a role. */
export interface SignalColumn {
  readonly name: string;
  readonly weight: number;
  /** [group][member]; undefined where the rollout does not have it, or it is not finite. */
  readonly values: readonly (readonly (number | undefined)[])[];
}

/** All signals that any rollout has, in order of first appearance; the reward where there are none. */
function allNames(signals: readonly (readonly Signals[])[]): readonly string[] {
  const names = new Set(signals.flat().flatMap((one) => Object.keys(one)));
  return names.size === 0 ? [rewardSignal] : [...names];
}

/** @param weights by signal; empty for all that there are, each with the weight 1. */
export function signalColumns(
  rewards: readonly (readonly number[])[],
  signals: readonly (readonly Signals[])[],
  weights: ReadonlyMap<string, number>,
): readonly SignalColumn[] {
  const named = weights.size > 0 ? weights : new Map(allNames(signals).map((name) => [name, 1]));
  return [...named].map(([name, weight]) => ({
    name,
    weight,
    values: rewards.map((group, g) =>
      group.map((reward, i) => {
        const value = name === rewardSignal ? reward : signals[g]?.[i]?.[name];
        return value === undefined || !Number.isFinite(value) ? undefined : value;
      }),
    ),
  }));
}

const given = (values: readonly (number | undefined)[]): number[] =>
  values.filter((value) => value !== undefined);

/** `signals/{role}/{name}/...`: of each signal that some rollout has. */
export function signalMetrics(
  role: string,
  columns: readonly SignalColumn[],
): Record<string, number> {
  const metrics: Record<string, number> = {};
  for (const { name, values } of columns) {
    const all = values.flatMap(given);
    const prefix = `signals/${role}/${name}`;
    const missing = values.flat().length - all.length;
    metrics[`${prefix}/missing`] = missing;
    if (all.length === 0) continue;
    const compared = values.map(given).filter((group) => group.length > 1);
    const informative = compared.filter((group) => !isUniform(group)).length;
    metrics[`${prefix}/mean`] = mean(all);
    metrics[`${prefix}/std`] = populationStd(all);
    metrics[`${prefix}/informative_fraction`] =
      compared.length === 0 ? 0 : informative / compared.length;
  }
  return metrics;
}
