/** What becomes of the policy: how much it explores, and how long its responses are. */
import type { History } from "./history.ts";
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

/** The entropy where it is measured, else its estimate from sampled tokens. */
const entropyOf = (history: History): string =>
  history.train("train/entropy").length > 0 ? "train/entropy" : "train/sampled_nll";

/**
 * Rollouts of a task used to differ and no longer do, though rewards still differ between tasks. Needed
 * because a step whose groups are all uniform makes no update, and so measures no entropy.
 */
function alike(history: History): Seen | null {
  if ((history.now("reward/std") ?? 0) < 1e-6) return null;
  for (const metric of history.names(/^groups\/.+\/informative_fraction$/u)) {
    const first = history.baseline(metric) ?? 0;
    const points = history.recent(metric);
    const bad = points.filter(({ value }) => value < 0.1);
    if (first < 0.4 || bad.length < Math.max(5, 0.6 * points.length)) continue;
    return {
      evidence: `rollouts of a task no longer differ: ${percent(first)} of the groups had rewards that differ, and ${percent(bad.at(-1)?.value ?? 0)} have (${metric})`,
      steps: bad.map(({ step }) => step),
    };
  }
  return null;
}

const entropyFell: Find = (history) =>
  overThreshold(history, {
    metric: entropyOf(history),
    isBad: (value, first) => first > 0.05 && value < 0.1 * first,
    says: (value, first) => `entropy fell from ${short(first)} to ${short(value)} nats`,
    share: 0.4,
  });

/** The policy drifts towards noise. */
export const entropyRose: Find = (history) =>
  overThreshold(history, {
    metric: entropyOf(history),
    isBad: (value, first) => value > 1 && value > 3 * first,
    says: (value, first) => `entropy rose from ${short(first)} to ${short(value)} nats`,
    share: 0.4,
  });

const silent = above(
  "episode/text/empty",
  0.2,
  (value) => `${percent(value)} of the rollouts have an empty response`,
);

function shorter(history: History): Seen | null {
  const correct = "rollout/pass@1";
  // Shorter and more often correct is what was wanted.
  if ((history.now(correct) ?? 0) > (history.baseline(correct) ?? 0) + 0.05) return null;
  return overThreshold(history, {
    metric: "episode/tokens/response",
    isBad: (value, first) => first >= 8 && value < 0.5 * first,
    says: (value, first) =>
      `responses shrank from ${short(first)} to ${short(value)} tokens per rollout`,
    share: 0.4,
  });
}

export const policyRules: Rules = {
  entropy_collapse: unlessSolved(firstOf(entropyFell, alike)),
  length_collapse: firstOf(silent, shorter),
};
