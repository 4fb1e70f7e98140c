/** From the episodes of a step to the rows it trains on: groups, filters, advantages, rows. */
import {
  computeAdvantages,
  zeroTolerance,
  type AdvantageOptions,
} from "../../algorithms/advantages.ts";
import {
  findEstimator,
  groupRelative,
  type CustomEstimators,
  type EstimatorName,
} from "../../algorithms/catalog.ts";
import type { AdvantageEstimator } from "../../algorithms/estimators.ts";
import { dropUniform, groupTrajectories, rewardsDiffer } from "../../algorithms/grouping.ts";
import { precomputedAdvantages } from "../../algorithms/precomputed.ts";
import { buildRows, type MemberAdvantage, type RowsOptions } from "../../algorithms/rows/rows.ts";
import { type SignalColumn, signalColumns, signalMetrics } from "../../algorithms/signals.ts";
import { computeStepwiseAdvantages, stepsDiffer } from "../../algorithms/stepwise.ts";
import { weightsOf } from "../../config/role-map.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { TrajectoryGroup } from "../../core/trajectory.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import type { TaskRollouts } from "../../rollouts/task-rollouts.ts";
import { groupBy } from "../../util/group-by.ts";
import { isPerStep, shapeOverlong, type StepGroups } from "./shape-rewards.ts";

/** Groups with the rewards that are trained on. */
export function groupsOf(config: TrainConfig, rollouts: readonly TaskRollouts[]): StepGroups {
  const { excludedReasons } = config.algorithm;
  const grouped = groupTrajectories(rollouts, { excludedReasons });
  const shaped = shapeOverlong(config, grouped.groups);
  return { ...shaped, metrics: { ...grouped.metrics, ...shaped.metrics } };
}

type Estimator = TrainConfig["algorithm"]["estimator"];

/** The estimator of a role. */
const estimatorOf = ({ algorithm }: TrainConfig, role: string): Estimator =>
  algorithm.estimatorByRole.find((one) => one.role === role) ?? algorithm.estimator;

/** The signals that the estimator of these groups' role normalizes apart; null where it compares rewards. */
function columnsOf(
  config: TrainConfig,
  role: string,
  groups: readonly TrajectoryGroup[],
): readonly SignalColumn[] | null {
  const estimator = estimatorOf(config, role);
  if (estimator.type !== "gdpo") return null;
  return signalColumns(
    groups.map(({ members }) => members.map(({ reward }) => reward)),
    groups.map(({ members }) => members.map(({ trajectory }) => trajectory.signals)),
    weightsOf(estimator.weights),
  );
}

/**
 * Whether a group teaches anything: some advantage in it is not 0. An estimator that compares with other groups too
 * gives equal rewards an advantage; for those, and for custom ones, the rewards (with per-step advantages, the
 * returns) have to differ. Rejection sampling, replay and the filter of the update all ask this.
 */
export function teaches(config: TrainConfig, group: TrajectoryGroup): boolean {
  if (groupRelative.has(estimatorOf(config, group.name).type as EstimatorName)) {
    const [own] = estimate(config, [group], new Map()).advantages;
    return Array.from(own ?? []).some((advantage) => !isZeroAdvantage(advantage));
  }
  return isPerStep(config)
    ? stepsDiffer(group, config.stepwiseAdvantage.gamma)
    : rewardsDiffer(group);
}

const isZeroAdvantage = (advantage: MemberAdvantage): boolean =>
  Array.from(typeof advantage === "number" ? [advantage] : (advantage as ArrayLike<number>)).every(
    (value) => Math.abs(value) < zeroTolerance,
  );

/**
 * Whether groups without a learning signal are excluded from the rows. They count in every estimate:
 * some estimators scale by all rewards of a role. See the option's description.
 */
function filtersUniform(config: TrainConfig): boolean {
  const { filterUniformGroups, estimator, estimatorByRole } = config.algorithm;
  // A teacher teaches something even where all rewards are equal.
  if (config.distillation.teacher !== null) return filterUniformGroups ?? false;
  const used = [estimator, ...estimatorByRole].map(({ type }) => type);
  const isGroupRelative = used.every((name) => groupRelative.has(name as EstimatorName));
  // Trajectories of the same reward may have steps of different rewards.
  return filterUniformGroups ?? (isGroupRelative && !isPerStep(config));
}

function advantageOptions({ algorithm }: TrainConfig, custom: CustomEstimators): AdvantageOptions {
  const find = (given: Estimator): AdvantageEstimator => {
    // They come with the rows, from the critic.
    if (given.type === "gae")
      return (groups) => groups.map(({ length }) => new Float64Array(length));
    const estimator = findEstimator(given.type, custom);
    const normByStd = !("normByStd" in given) || given.normByStd;
    const weights = weightsOf("weights" in given ? given.weights : []);
    return (groups, options) => estimator(groups, { ...options, normByStd, weights });
  };
  return {
    estimator: find(algorithm.estimator),
    byRole: new Map(algorithm.estimatorByRole.map((one) => [one.role, find(one)])),
    normByStd: true,
  };
}

interface StepAdvantages {
  readonly advantages: readonly ArrayLike<MemberAdvantage>[];
  readonly metrics: Readonly<Record<string, number>>;
}

function estimate(
  config: TrainConfig,
  groups: readonly TrajectoryGroup[],
  custom: CustomEstimators,
): StepAdvantages {
  const { enable, gamma, normalizeBySteps } = config.stepwiseAdvantage;
  const options = advantageOptions(config, custom);
  const estimated = isPerStep(config)
    ? computeStepwiseAdvantages(groups, { ...options, gamma })
    : computeAdvantages(groups, options);
  const { advantages } = estimated;
  const metrics = { ...estimated.metrics };
  for (const [role, own] of groupBy(groups, ({ name }) => name)) {
    const columns = columnsOf(config, role, own);
    if (columns !== null) Object.assign(metrics, signalMetrics(role, columns));
  }
  if (!enable || !normalizeBySteps) return { advantages, metrics };
  const normalized = groups.map(({ members }, g) =>
    members.map(({ trajectory }, m): MemberAdvantage => {
      const advantage = advantages[g]?.[m] ?? 0;
      const steps = Math.max(1, trajectory.steps.length);
      return typeof advantage === "number"
        ? advantage / steps
        : advantage.map((value) => value / steps);
    }),
  );
  return { advantages: normalized, metrics };
}

export interface BuiltRows {
  readonly rows: readonly TrainingRow[];
  /** Groups that were dropped because they teach nothing. */
  readonly uniform: readonly TrajectoryGroup[];
  /** Groups whose advantages were estimated. */
  readonly estimated: readonly TrajectoryGroup[];
  readonly metrics: Record<string, number>;
}

/** Rows to train on, with advantages, and the metrics of their groups. */
export function rowsOf(
  config: TrainConfig,
  grouped: StepGroups,
  custom: CustomEstimators,
  options: RowsOptions,
): BuiltRows {
  const given = precomputedAdvantages(grouped.groups, config.algorithm.usePrecomputedAdvantage);
  const open = grouped.groups.filter((group) => !given.byGroup.has(group));
  const { advantages, metrics } = estimate(config, open, custom);
  const filtered = filtersUniform(config)
    ? dropUniform(open, (group) => teaches(config, group))
    : null;
  const isKept = new Set(filtered?.groups ?? open);
  const byGroup = new Map<TrajectoryGroup, ArrayLike<MemberAdvantage>>(given.byGroup);
  for (const [i, group] of open.entries()) {
    if (isKept.has(group)) byGroup.set(group, advantages[i] as ArrayLike<MemberAdvantage>);
  }
  const groups = grouped.groups.filter((group) => byGroup.has(group));
  const built = buildRows(
    groups,
    groups.map((group) => byGroup.get(group) as ArrayLike<MemberAdvantage>),
    { ...options, skipTruncated: config.algorithm.maskTruncatedSamples },
  );
  return {
    rows: built.rows,
    uniform: open.filter((group) => !isKept.has(group)),
    estimated: open.filter((group) => isKept.has(group)),
    metrics: {
      ...grouped.metrics,
      ...filtered?.metrics,
      ...metrics,
      ...given.metrics,
      ...built.metrics,
    },
  };
}
