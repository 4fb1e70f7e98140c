/** Rollouts that were not sampled by the weights that are trained. */
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
} from "./rule.ts";

const differs = (value: number): string =>
  `log-probabilities of the same tokens differ by ${short(value)} on average`;
const inRollouts = above("off_policy/logprob_abs_diff_mean", 0.1, differs);
const inUpdates = above("train/logprob_abs_diff_mean", 0.1, differs);

const fewEffective: Find = (history) =>
  overThreshold(history, {
    metric: "train/ess_fraction",
    isBad: (value) => value < 0.3,
    says: (value) => `the effective sample size is ${percent(value)} of the tokens`,
    share: 0.5,
  });

/** Syncs that the sampler may be behind before its weights count as frozen. */
const frozenFor = 5;

/** New versions are published, and rollouts still come from one old version. */
function frozen(history: History): Seen | null {
  const sampled = history.recent("episode/weight_version");
  const served = history.recent("weight_version");
  const last = sampled.at(-1);
  const newest = served.at(-1);
  if (last === undefined || newest === undefined || sampled.length <= frozenFor) return null;
  const same = sampled.filter(({ value }) => value === last.value);
  const since = served.find(({ step }) => step === same[0]?.step)?.value;
  if (since === undefined || same.length <= frozenFor || newest.value - since < frozenFor)
    return null;
  return {
    evidence: `rollouts of the last ${same.length} steps were sampled by version ${short(last.value)} of the weights, while version ${short(newest.value)} is served (episode/weight_version)`,
    steps: same.map(({ step }) => step),
  };
}

const stale = above(
  "async/staleness_mean",
  8,
  (value) => `tokens are ${short(value)} weight syncs old on average`,
);

export const offPolicyRules: Rules = {
  sampler_trainer_gap: firstOf(inRollouts, inUpdates, fewEffective),
  stale_weights: firstOf(frozen, stale),
};
