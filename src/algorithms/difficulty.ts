/** How hard the tasks are for the policy, from the spread of rewards within groups. */
import { isUniform, mean, percentile, populationStd } from "./statistics.ts";

const percents = [10, 50, 90] as const;

/**
 * `batch/{role}/...` over the groups with at least two members: `total`, `informative` (rewards
 * differ), `fractions/effective`, `fractions/too_easy` (all equal, mean at least 1),
 * `fractions/too_hard` (all equal, mean at most 0), and the 10th, 50th and 90th percentile of the
 * groups' mean and std. `groups_of_one` counts the rest.
 */
export function difficultyMetrics(
  role: string,
  groups: readonly (readonly number[])[],
): Record<string, number> {
  const compared = groups.filter((rewards) => rewards.length > 1);
  const total = compared.length;
  const uniformMeans = compared.filter(isUniform).map(mean);
  const fraction = (count: number): number => (total === 0 ? 0 : count / total);
  const prefix = `batch/${role}`;
  const metrics: Record<string, number> = {
    [`${prefix}/total`]: total,
    [`${prefix}/informative`]: total - uniformMeans.length,
    [`${prefix}/groups_of_one`]: groups.filter((rewards) => rewards.length === 1).length,
    [`${prefix}/fractions/effective`]: fraction(total - uniformMeans.length),
    [`${prefix}/fractions/too_easy`]: fraction(uniformMeans.filter((value) => value >= 1).length),
    [`${prefix}/fractions/too_hard`]: fraction(uniformMeans.filter((value) => value <= 0).length),
  };
  if (total === 0) return metrics;
  const means = compared.map(mean);
  const stds = compared.map(populationStd);
  for (const percent of percents) {
    metrics[`${prefix}/group_reward_mean/p${percent}`] = percentile(means, percent);
    metrics[`${prefix}/group_reward_std/p${percent}`] = percentile(stds, percent);
  }
  return metrics;
}
