/** Rollouts that were not sampled by the weights that are trained. */
import type { History } from "./history.ts";
import { overThreshold, percent, type Rule, type Seen, short } from "./rule.ts";

function gap(history: History): Seen | null {
  for (const metric of ["off_policy/logprob_abs_diff_mean", "train/logprob_abs_diff_mean"]) {
    const seen = overThreshold(history, {
      metric,
      isBad: (value) => value > 0.1,
      says: (value) => `log-probabilities of the same tokens differ by ${short(value)} on average`,
      share: 0.5,
    });
    if (seen !== null) return seen;
  }
  return overThreshold(history, {
    metric: "train/ess_fraction",
    isBad: (value) => value < 0.3,
    says: (value) => `the effective sample size is ${percent(value)} of the tokens`,
    share: 0.5,
  });
}

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

const stale: Rule = {
  disease: "stale_weights",
  find: (history) =>
    frozen(history) ??
    overThreshold(history, {
      metric: "async/staleness_mean",
      isBad: (value) => value > 8,
      says: (value) => `tokens are ${short(value)} weight syncs old on average`,
      share: 0.5,
    }),
};

export const offPolicyRules: readonly Rule[] = [
  { disease: "sampler_trainer_gap", find: gap },
  stale,
];
