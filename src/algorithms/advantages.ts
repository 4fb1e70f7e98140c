/** Advantages of a batch: each role's groups go to the estimator together. */
import { ConfigError } from "../core/errors.ts";
import type { GroupMember, TrajectoryGroup } from "../core/trajectory.ts";
import { groupBy } from "../util/group-by.ts";
import { findEstimator, type EstimatorName } from "./catalog.ts";
import type { AdvantageEstimator, EstimatorOptions, RolloutOutcome } from "./estimators.ts";
import {
  concatenated,
  isUniform,
  mean,
  percentile,
  populationStd,
  summarize,
} from "./statistics.ts";

/** Advantages closer to zero than this count as zero. */
export const zeroTolerance = 1e-8;

export interface AdvantageOptions extends Pick<EstimatorOptions, "normByStd"> {
  /** A name from the catalog, or a function. */
  readonly estimator: EstimatorName | AdvantageEstimator;
  /** Estimator for individual roles. @default `estimator` for all */
  readonly byRole?: ReadonlyMap<string, EstimatorName | AdvantageEstimator>;
}

export interface AdvantageResult {
  /** [group][member] in the order of the groups; one number for all sampled tokens of a trajectory. */
  readonly advantages: readonly Float64Array[];
  /** `reward/{role}/...`, `advantage/{role}/...`, `groups/{role}/...`; all finite for finite rewards. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** What an estimator compares: rewards, and what else is known of each rollout. */
export interface ComparedGroup {
  /** The role. */
  readonly name: string;
  readonly rewards: readonly number[];
  /** Sampled tokens, at least 1. */
  readonly lengths: readonly number[];
  readonly signals: readonly Readonly<Record<string, number>>[];
  readonly outcomes: readonly RolloutOutcome[];
}

/** What is the same whether whole trajectories or single steps are compared. */
export function comparedFacts(
  members: readonly GroupMember[],
): Pick<ComparedGroup, "signals" | "outcomes"> {
  return {
    signals: members.map(({ trajectory }) => trajectory.signals),
    outcomes: members.map(({ trajectory: { steps }, episode }) => ({
      isCorrect: episode.isCorrect,
      terminationReason: episode.terminationReason,
      isTruncated: steps.some(({ trace }) => trace.stopReason === "length"),
    })),
  };
}

/** @throws ConfigError when there is no such estimator, or its result has another shape than the rewards. */
export function computeAdvantages(
  groups: readonly TrajectoryGroup[],
  options: AdvantageOptions,
): AdvantageResult {
  const compared = groups.map(({ name, members }) => ({
    name,
    rewards: members.map(({ reward }) => reward),
    lengths: members.map(sampledTokens),
    ...comparedFacts(members),
  }));
  return estimateByRole(compared, options);
}

/** Each role's groups go to its estimator together. @throws ConfigError as {@link computeAdvantages}. */
export function estimateByRole(
  groups: readonly ComparedGroup[],
  options: AdvantageOptions,
): AdvantageResult {
  const indicesByRole = groupBy(groups.keys(), (index) => groups[index]!.name);

  const advantages: Float64Array[] = Array.from({ length: groups.length });
  const metrics: Record<string, number> = {};
  for (const [role, indices] of indicesByRole) {
    const own = indices.map((index) => groups[index] as ComparedGroup);
    const rewards = own.map((group) => group.rewards);
    const estimator = options.byRole?.get(role) ?? options.estimator;
    const estimate = typeof estimator === "string" ? findEstimator(estimator) : estimator;
    const estimated = estimate(rewards, {
      normByStd: options.normByStd,
      lengths: own.map(({ lengths }) => lengths),
      signals: own.map(({ signals }) => signals),
      outcomes: own.map(({ outcomes }) => outcomes),
      weights: new Map(),
    });
    requireSameShape(role, rewards, estimated);
    indices.forEach((index, position) => {
      advantages[index] = estimated[position] ?? new Float64Array(0);
    });
    Object.assign(metrics, roleMetrics(role, rewards, estimated));
  }
  return { advantages, metrics };
}

function sampledTokens({ trajectory }: GroupMember): number {
  const sampled = trajectory.steps.reduce((sum, { trace }) => sum + trace.responseIds.length, 0);
  return Math.max(1, sampled);
}

function roleMetrics(
  role: string,
  rewards: readonly (readonly number[])[],
  estimated: readonly Float64Array[],
): Record<string, number> {
  const flat = concatenated(estimated);
  const zeros = flat.reduce((count, value) => count + (Math.abs(value) < zeroTolerance ? 1 : 0), 0);
  return {
    ...summarize(`reward/${role}`, concatenated(rewards)),
    ...summarize(`advantage/${role}`, flat),
    [`advantage/${role}/zero_fraction`]: flat.length === 0 ? 0 : zeros / flat.length,
    ...difficultyMetrics(role, rewards),
  };
}

const percents = [10, 50, 90] as const;

/**
 * How hard the tasks are for the policy, from the spread of rewards within groups.
 * `groups/{role}/...` over the groups with at least two members: `comparable` counts them,
 * `informative` those whose rewards differ; fractions of them are `informative_fraction`,
 * `too_easy_fraction` (all equal, mean at least 1) and `too_hard_fraction` (all equal, mean at most 0);
 * `reward_mean` and `reward_std` are percentiles of the groups' mean and std. `singletons` counts the
 * groups of one.
 */
function difficultyMetrics(
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

function requireSameShape(
  role: string,
  rewards: readonly (readonly number[])[],
  estimated: readonly Float64Array[],
): void {
  const expected = rewards.map((group) => group.length);
  const received = estimated.map((group) => group.length);
  if (expected.join() === received.join()) return;
  throw new ConfigError({
    message: `The advantage estimator returned groups of sizes [${received.join(", ")}] for role "${role}", but got rewards of sizes [${expected.join(", ")}].`,
    hint: "Return one Float64Array per group, with one number per reward.",
    fields: { role, expected, received },
  });
}
