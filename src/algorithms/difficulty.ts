/** How hard the tasks are for the policy, from the spread of rewards within groups. */
import { isUniform, mean, percentile, populationStd } from "./statistics.ts";

const percents = [10, 50, 90] as const;

/**
 * `groups/{role}/...` over the groups with at least two members: `comparable` counts them,
 * `informative` those whose rewards differ; fractions of them are `informative_fraction`,
 * `too_easy_fraction` (all equal, mean at least 1) and `too_hard_fraction` (all equal, mean at most 0);
 * `reward_mean` and `reward_std` are percentiles of the groups' mean and std. `singletons` counts the
 * groups of one.
 */
export function difficultyMetrics(
  role: string,
  groups: readonly (readonly number[])[],
): Record<string, number> {
  const compared = groups.filter((rewards) => rewards.length > 1);
  const total = compared.length;
  const uniformMeans = compared.filter(isUniform).map(mean);
  const fraction = (count: number): number => (total === 0 ? 0 : count / total);
  const prefix = `groups/${role}`;
  const metrics: Record<string, number> = {
    [`${prefix}/comparable`]: total,
    [`${prefix}/informative`]: total - uniformMeans.length,
    [`${prefix}/singletons`]: groups.filter((rewards) => rewards.length === 1).length,
    [`${prefix}/informative_fraction`]: fraction(total - uniformMeans.length),
    [`${prefix}/too_easy_fraction`]: fraction(uniformMeans.filter((value) => value >= 1).length),
    [`${prefix}/too_hard_fraction`]: fraction(uniformMeans.filter((value) => value <= 0).length),
  };
  if (total === 0) return metrics;
  const means = compared.map(mean);
  const stds = compared.map(populationStd);
  for (const percent of percents) {
    metrics[`${prefix}/reward_mean/p${percent}`] = percentile(means, percent);
    metrics[`${prefix}/reward_std/p${percent}`] = percentile(stds, percent);
  }
  return metrics;
}
