/** Updates that do nothing, or too much. */
import { deviation, type History, mean, type Point } from "./history.ts";
import {
  above,
  type Find,
  firstOf,
  overThreshold,
  percent,
  type Rules,
  type Seen,
  short,
  unlessSolved,
} from "./rule.ts";

const gradientZero: Find = (history) =>
  overThreshold(history, {
    metric: "train/grad_norm",
    isBad: (value) => value < 1e-12,
    says: () => "the norm of the gradient is 0",
    share: 0.5,
  });

const gradientExploding: Find = (history) =>
  overThreshold(history, {
    metric: "train/grad_norm",
    isBad: (value, first) => value > 10 && value > 20 * first,
    says: (value, first) =>
      `the norm of the gradient is ${short(value)}, and was ${short(first)} at first`,
    share: 0.2,
    minBad: 2,
  });

const reasons: Readonly<Record<string, string>> = {
  equal_rewards: "all rewards are equal",
  failed: "every rollout failed",
  nothing_captured: "no call was captured",
  no_reward: "no rollout has a reward",
  excluded: "options exclude everything",
  no_tasks: "rejection sampling left no task",
  not_finite: "a number was not finite",
};

function updatesSkipped(history: History): Seen | null {
  // Steps near the end of what can be learned make no update now and then.
  const skipped = [
    ["train/skipped_updates", 0.3],
    ["train/skipped_steps", 0.6],
  ] as const;
  for (const [metric, share] of skipped) {
    const seen = overThreshold(history, {
      metric,
      isBad: (value) => value > 0,
      says: () => {
        const found = history
          .names(/^train\/skip_reason\//u)
          .filter((name) => history.recent(name).some(({ value }) => value > 0))
          .map((name) => name.slice("train/skip_reason/".length));
        const why = found.map((name) => reasons[name] ?? name);
        return `steps make no update${why.length === 0 ? "" : `: ${why.join(", ")}`}`;
      },
      share,
    });
    if (seen !== null) return seen;
  }
  return null;
}

/** The reward was reached and lost again, while the policy changed a lot from one step to the next. */
function collapse(history: History): Seen | null {
  const points = history.train("reward/mean");
  if (points.length < 6) return null;
  const smooth = points.slice(2).map(({ step }, i) => ({
    step,
    value: mean(points.slice(i, i + 3).map(({ value }) => value)),
  }));
  const best = smooth.reduce((a, b) => (b.value > a.value ? b : a));
  const now = smooth.at(-1) as Point;
  const first = history.baseline("reward/mean") ?? 0;
  const lowest = Math.min(...points.map(({ value }) => value));
  const range = best.value - lowest;
  // The standard error of a step's mean.
  const rollouts = history.baseline("rollout/episodes") ?? 1;
  const noise = (history.baseline("reward/std") ?? 0) / Math.sqrt(Math.max(1, rollouts));
  // Below half of what was reached, or all of what there was at the beginning is lost.
  const isLost = now.value < best.value - 0.6 * range && now.value < first - 2 * noise + 1e-9;
  const isLarge = range > Math.max(0.25 * Math.abs(best.value), 4 * noise, 0.02);
  if (!isLost || !isLarge) return null;
  const nll = history.recent("train/sampled_nll", 60);
  const jumps = nll.filter(({ value }, i) => {
    const before = nll[i - 1]?.value;
    return before !== undefined && before > 0 && (value > 1.8 * before || value < before / 1.8);
  });
  if (jumps.length === 0 && (history.now("train/kl_k3") ?? 0) < 0.05) return null;
  return {
    evidence: `reward/mean was ${short(best.value)} around step ${best.step} and is ${short(now.value)}; ${jumps.length === 0 ? "train/kl_k3 is high" : `train/sampled_nll changed by more than 1.8 times in ${jumps.length === 1 ? "one step" : `${jumps.length} steps`}`}`,
    steps: jumps.map(({ step }) => step),
  };
}

const clipped = above(
  "train/clip_fraction",
  0.4,
  (value) => `${percent(value)} of the tokens were clipped`,
);

/** Steps without which nothing can be said about a reward that does not move. */
const patience = 24;

function rateLow(history: History): Seen | null {
  const rates = history.recent("progress/lr", 5);
  if (rates.length === 5 && rates.every(({ value }) => value === 0)) {
    if (history.train("progress/lr").every(({ value }) => value === 0))
      return { evidence: "progress/lr is 0", steps: rates.map(({ step }) => step) };
  }
  const nll = history.train("train/sampled_nll");
  const reward = history.train("reward/mean");
  if (nll.length < patience || (history.now("train/grad_norm") ?? 1) < 1e-12) return null;
  const still = (points: readonly Point[]): boolean => {
    const third = Math.floor(points.length / 3);
    const first = points.slice(0, third).map(({ value }) => value);
    const last = points.slice(-third).map(({ value }) => value);
    // The standard error of the difference of two means.
    const error = Math.sqrt(
      (deviation(first) ** 2 + deviation(last) ** 2) / Math.max(1, third - 1),
    );
    return Math.abs(mean(last) - mean(first)) < 1.5 * error;
  };
  if (!still(nll) || !still(reward)) return null;
  return {
    evidence: `neither reward/mean (${short(mean(reward.map(({ value }) => value)))}) nor train/sampled_nll (${short(mean(nll.map(({ value }) => value)))}) has moved in ${nll.length} steps, though rewards differ`,
    steps: reward.slice(-1).map(({ step }) => step),
  };
}

export const updateRules: Rules = {
  updates_skipped: unlessSolved(firstOf(updatesSkipped, gradientZero)),
  learning_rate_high: firstOf(clipped, collapse, gradientExploding),
  learning_rate_low: rateLow,
};
