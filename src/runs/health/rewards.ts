/** Rewards that cannot teach, or teach something else than the task. */
import { deviation, type History, mean, type Point } from "./history.ts";
import {
  type Find,
  firstOf,
  overThreshold,
  percent,
  type Rules,
  type Seen,
  short,
  type Threshold,
  unlessSolved,
  warning,
} from "./rule.ts";

const noVariance: Find = (history) =>
  overThreshold(history, {
    metric: "reward/std",
    isBad: (value) => value < 1e-9,
    says: () => "all rewards of a step are equal",
    share: 0.6,
  });

function groupsFiltered(history: History): Seen | null {
  const dropped = new Map(
    history.recent("groups/dropped/uniform_groups").map(({ step, value }) => [step, value]),
  );
  const groups = history.recent("groups/count").filter(({ value }) => value > 0);
  const bad = groups.filter(({ step, value }) => dropped.get(step) === value);
  if (bad.length < Math.max(3, 0.6 * groups.length)) return null;
  return {
    evidence: `every group was dropped because its advantages are all 0 (${bad.length} of the last ${groups.length} steps; groups/dropped/uniform_groups)`,
    steps: bad.map(({ step }) => step),
  };
}

/** What the first role with a finding shows. */
const anyRole =
  (pattern: RegExp, threshold: Omit<Threshold, "metric" | "share">): Find =>
  (history) =>
    history
      .names(pattern)
      .map((metric) => overThreshold(history, { ...threshold, metric, share: 0.6 }))
      .find((seen) => seen !== null) ?? null;

const advantagesZero = anyRole(/^advantage\/.+\/zero_fraction$/u, {
  isBad: (value) => value > 0.999,
  says: () => "all advantages are 0",
});

const fewInformative = anyRole(/^groups\/.+\/informative_fraction$/u, {
  isBad: (value) => value < 0.1,
  says: (value) => `only ${percent(value)} of the groups have rewards that differ`,
});

const thirdOf = (points: readonly Point[]): number => Math.floor(points.length / 3);
const valuesOf = (points: readonly Point[]): number[] => points.map(({ value }) => value);
const firstThird = (points: readonly Point[]): number[] =>
  valuesOf(points.slice(0, thirdOf(points)));
const lastThird = (points: readonly Point[]): number[] => valuesOf(points.slice(-thirdOf(points)));

/**
 * Change from the first to the last third in units of the noise within thirds; null for fewer than 9
 * values. A change of less than a hundredth of the values' size is none.
 */
function change(points: readonly Point[]): number | null {
  if (points.length < 9) return null;
  const [first, last] = [firstThird(points), lastThird(points)];
  const difference = mean(last) - mean(first);
  const size = Math.max(...points.map(({ value }) => Math.abs(value)));
  if (Math.abs(difference) < 0.01 * size) return 0;
  const noise = Math.max((deviation(first) + deviation(last)) / 2, 1e-3 * size, 1e-12);
  return difference / noise;
}

/** A change that is more than noise, and worth speaking of. */
const clear = 1.5;

/** Signals that are better when they fall, or say nothing of how good a response is. */
const isNoScore =
  /length|token|turn|time|cost|penalt|error|count|latency|\bs$|_s$|repeat|truncat/iu;

const moved = ({ name, points }: { readonly name: string; readonly points: readonly Point[] }) =>
  `${name} went from ${short(mean(firstThird(points)))} to ${short(mean(lastThird(points)))}`;

const recentTrend = 90;

/** One part of the reward rises while another, or correctness, falls. */
function hacked(history: History): Seen | null {
  const reward = history.recent("reward/mean", recentTrend);
  const rise = change(reward);
  if (rise === null || rise < clear) return null;
  const parts = history
    .names(/^episode\/signal\//u)
    .filter((name) => !isNoScore.test(name))
    .map((name) => ({ name, points: history.recent(name, recentTrend) }));
  const correct = {
    name: "rollout/pass@1",
    points: history.recent("rollout/pass@1", recentTrend),
  };
  const ends = parts.concat(correct).map((one) => ({
    ...one,
    from: mean(firstThird(one.points)),
    to: mean(lastThird(one.points)),
  }));
  const [fallen] = ends
    // A part that was hardly ever there has nothing to lose.
    .filter(({ points, from, to }) => (change(points) ?? 0) < -clear && to < 0.7 * from)
    .toSorted((a, b) => (a.to - a.from) / Math.abs(a.from) - (b.to - b.from) / Math.abs(b.from));
  if (fallen === undefined) return null;
  const risen = parts.find(({ points }) => (change(points) ?? 0) > clear);
  const up = [{ name: "reward/mean", points: reward }, ...(risen === undefined ? [] : [risen])];
  return {
    evidence: `${moved(fallen)}, while ${up.map(moved).join(" and ")}`,
    steps: reward.slice(-1).map(({ step }) => step),
  };
}

/** Training rewards rise while those of validations fall. */
function diverges(history: History): Seen | null {
  const reward = history.recent("reward/mean", recentTrend);
  const validations = history.validation("val/reward/mean");
  if (validations.length < 4) return null;
  const best = validations.reduce((a, b) => (b.value > a.value ? b : a));
  const since = validations.filter(({ step }) => step > best.step);
  if (since.length < 3) return null;
  const now = mean(valuesOf(since.slice(-3)));
  const at = (from: number, to: number): number[] =>
    valuesOf(reward.filter(({ step }) => step >= from && step <= to));
  const last = reward.at(-1)?.step ?? 0;
  const before = at(best.step - 2, best.step + 2);
  const after = at(last - 4, last);
  if (before.length === 0 || after.length === 0) return null;
  const spread = Math.max(deviation(valuesOf(validations.slice(0, 3))), 0.02);
  const falls = best.value - now > Math.max(0.15 * Math.abs(best.value), 2 * spread);
  if (!falls || mean(after) <= mean(before) + 0.02) return null;
  return {
    evidence: `val/reward/mean fell from ${short(best.value)} at step ${best.step} to ${short(now)}, while reward/mean rose from ${short(mean(before))} to ${short(mean(after))}`,
    steps: since.map(({ step }) => step),
  };
}

/** A critic needs no groups. */
const fewGroups: Find = (history) =>
  history.now("critic/values/mean") === null ? fewInformative(history) : null;

export const rewardRules: Rules = {
  no_reward_variance: unlessSolved(
    firstOf(noVariance, groupsFiltered, advantagesZero, warning(fewGroups)),
  ),
  reward_hacked: hacked,
  validation_diverges: diverges,
};
