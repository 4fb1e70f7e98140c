/** Two evaluations of the same tasks: one paired test, differences with confidence intervals, and what changed. */
import { ConfigError } from "../../core/errors.ts";
import { isUserFault } from "../../core/outcome.ts";
import { haveCorrectness } from "../episode-metrics.ts";
import { validationReward } from "../validation-metrics.ts";
import { groupBy } from "../../util/group-by.ts";
import { readEvaluation } from "./evaluation-folder.ts";
import { episodeOf, type EvaluationItem } from "./evaluation-item.ts";
import { type TypicalInterval, typicalInterval } from "./typical-interval.ts";

/** Results that can be compared: the folder of an evaluation, or what `evaluate` and `rescore` return. */
export type ComparableEvaluation =
  | string
  | {
      readonly items: readonly EvaluationItem[];
      readonly summary: { readonly failureReward: number };
    };

/**
 * Means over the common tasks, and their difference with its 95 % confidence interval, that of the paired
 * sign-flip test over tasks. `low` and `high` are null for fewer than 6 tasks, which allow none.
 */
export interface PairedDifference extends TypicalInterval {
  readonly a: number;
  readonly b: number;
  /** b - a. */
  readonly difference: number;
}

/** A task in an evaluation: means over its attempts. */
export interface TaskMeans {
  /** null = no attempt was scored. */
  readonly reward: number | null;
  /** Fraction of correct attempts; null where correctness is not reported, or a simulated user failed them all. */
  readonly pass: number | null;
}

/** The result of {@link compareEvaluations}. */
export interface EvaluationComparison {
  /** Tasks in both. */
  readonly tasks: number;
  /** Ids of tasks that only the first has. */
  readonly onlyInA: readonly string[];
  /** Ids of tasks that only the second has. */
  readonly onlyInB: readonly string[];
  /** null where no task was scored in both. */
  readonly reward: PairedDifference | null;
  /** Of the fraction of correct attempts, which is pass@1. It decides only where there is no reward. */
  readonly pass: PairedDifference | null;
  /** Tasks whose mean reward or fraction of correct attempts differs, largest difference first. */
  readonly changed: readonly {
    readonly id: string;
    readonly a: TaskMeans;
    readonly b: TaskMeans;
  }[];
  /** Whether the second is worse: the whole interval of the difference in reward is below 0. */
  readonly isWorse: boolean;
  /** Whether the second is better: the whole interval of the difference in reward is above 0. */
  readonly isBetter: boolean;
}

/** What {@link compareEvaluations} takes in addition to the evaluations. */
export interface CompareOptions {
  /** Seed of the test, which for more than 13 tasks flips random signs. @default 0 */
  readonly seed?: number;
}

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

const passOf = (items: readonly EvaluationItem[]): number | null =>
  items.length === 0 ? null : meanOf(items.map(({ isCorrect }) => (isCorrect === true ? 1 : 0)));

function taskMeans(
  items: readonly EvaluationItem[],
  failureReward: number,
  hasCorrectness: boolean,
): TaskMeans {
  const rewards = items.flatMap((item) => validationReward(item, failureReward) ?? []);
  return {
    reward: rewards.length === 0 ? null : meanOf(rewards),
    pass: hasCorrectness ? passOf(items.filter((item) => !isUserFault(item))) : null,
  };
}

/** The attempts of an evaluation, and what a failed one counts with. */
export function itemsOf(evaluation: ComparableEvaluation): {
  readonly items: readonly EvaluationItem[];
  readonly failureReward: number;
} {
  if (typeof evaluation !== "string") return { ...evaluation.summary, items: evaluation.items };
  const { items, settings } = readEvaluation(evaluation);
  return { items, failureReward: settings.failureReward };
}

/** Each task's means over its attempts, by its id. */
export function meansOf(evaluation: ComparableEvaluation): ReadonlyMap<string, TaskMeans> {
  const { items, failureReward } = itemsOf(evaluation);
  const groups = groupBy(items, ({ id }) => id);
  const hasCorrectness = haveCorrectness(items.map(episodeOf));
  return new Map(
    [...groups].map(([id, own]) => [id, taskMeans(own, failureReward, hasCorrectness)]),
  );
}

type Pair = readonly [a: number, b: number];

function paired(pairs: readonly Pair[], seed: number): PairedDifference | null {
  if (pairs.length === 0) return null;
  const a = meanOf(pairs.map(([first]) => first));
  const b = meanOf(pairs.map(([, second]) => second));
  const differences = pairs.map(([first, second]) => second - first);
  return { a, b, difference: b - a, ...typicalInterval(differences, seed) };
}

/** Whether the whole interval of the difference is on one side of 0. */
export function verdictOf(difference: TypicalInterval | null): "better" | "worse" | null {
  const { low = null, high = null } = difference ?? {};
  if (high !== null && high < 0) return "worse";
  return low !== null && low > 0 ? "better" : null;
}

/**
 * Compares two evaluations on the tasks that both have: `b` after `a`.
 *
 * @throws ConfigError when they have no task in common, or a folder holds no evaluation.
 *
 * @example
 * const before = await evaluate({ config, model: "builtin:shop-tiny" });
 * const after = await evaluate({ config, model: "runs/shop" });
 * const { isWorse, changed } = compareEvaluations(before, after);
 */
export function compareEvaluations(
  a: ComparableEvaluation,
  b: ComparableEvaluation,
  { seed = 0 }: CompareOptions = {},
): EvaluationComparison {
  const [first, second] = [meansOf(a), meansOf(b)];
  const common = [...first].flatMap(([id, own]) => {
    const other = second.get(id);
    return other === undefined ? [] : [{ id, a: own, b: other }];
  });
  if (common.length === 0) {
    throw new ConfigError({
      message: "The two evaluations have no task in common.",
      hint: "Evaluate both on the same dataset; tasks are matched by their ids.",
      fields: { tasks: [first.size, second.size] },
    });
  }
  const pairs = (key: keyof TaskMeans): Pair[] =>
    common.flatMap(({ a: one, b: other }) =>
      one[key] === null || other[key] === null ? [] : [[one[key], other[key]] as const],
    );
  const [reward, pass] = [paired(pairs("reward"), seed), paired(pairs("pass"), seed)];
  const distance = ({ a: one, b: other }: (typeof common)[number]): number =>
    Math.abs((other.reward ?? 0) - (one.reward ?? 0)) +
    Math.abs((other.pass ?? 0) - (one.pass ?? 0));
  const verdict = verdictOf(reward ?? pass);
  return {
    tasks: common.length,
    onlyInA: [...first.keys()].filter((id) => !second.has(id)),
    onlyInB: [...second.keys()].filter((id) => !first.has(id)),
    reward,
    pass,
    changed: common
      .filter(({ a: one, b: other }) => one.reward !== other.reward || one.pass !== other.pass)
      .toSorted((one, other) => distance(other) - distance(one)),
    isWorse: verdict === "worse",
    isBetter: verdict === "better",
  };
}
