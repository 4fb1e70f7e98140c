/** Metrics in the groups that a page shows them in. Pure. */
import type { MetricTable } from "../api/runs.ts";

export interface MetricGroup {
  readonly title: string;
  /** Those to look at first, first. */
  readonly names: readonly string[];
}

/** A metric belongs to the first group with a form that fits. */
const groups: readonly { readonly title: string; readonly forms: readonly RegExp[] }[] = [
  {
    title: "Reward and validation",
    forms: [/^reward\//u, /^val\/(?!episode)/u, /pass@/u, /signal\//u, /_reward$/u, /^shaping\//u],
  },
  {
    title: "Policy",
    forms: [
      /^train\/(?:entropy|kl|chi2|ratio|clip|ess|logprob|sampled_nll)/u,
      /^(?:off_policy|rollout_correction|distillation|advantage)\//u,
    ],
  },
  {
    title: "Rollouts",
    forms: [/^(?:episode|rollout|groups|async|rejection_sample)\//u, /^val\/episode/u],
  },
  { title: "Updates", forms: [/^(?:train|rows|replay|progress)\//u, /^weight_version$/u] },
  { title: "Time and cost", forms: [/^(?:time|tokens|spent|engine)\//u] },
  { title: "Others", forms: [/^/u] },
];

const first: readonly string[] = [
  "reward/mean",
  "val/reward/mean",
  "rollout/pass@1",
  "val/pass@1",
  "train/entropy",
  "train/kl_k3",
  "train/logprob_abs_diff_mean",
  "train/clip_fraction",
  "episode/tokens/response",
  "episode/turns",
  "episode/tools/errors",
  "episode/truncated",
  "rollout/failed",
  "train/grad_norm",
  "train/loss",
  "train/lr",
  "rows/trained_tokens",
  "time/step_s",
  "time/rollout_s",
  "time/update_s",
  "tokens/per_s",
];

const rank = (name: string): number => {
  const at = first.indexOf(name);
  return at === -1 ? first.length : at;
};

/**
 * Groups with something in them; in each, metrics that never change come last.
 *
 * @param wanted part of the names; empty for all
 */
export function metricGroups(series: MetricTable["series"], wanted = ""): readonly MetricGroup[] {
  const isFlat = (name: string): boolean =>
    new Set(series[name]?.filter((value) => value !== null)).size < 2;
  const flat = new Set(Object.keys(series).filter(isFlat));
  const sorted = Object.keys(series)
    .filter((name) => name.includes(wanted))
    .toSorted(
      (a, b) => Number(flat.has(a)) - Number(flat.has(b)) || rank(a) - rank(b) || (a < b ? -1 : 1),
    );
  const groupOf = (name: string): string | undefined =>
    groups.find(({ forms }) => forms.some((form) => form.test(name)))?.title;
  return groups
    .map(({ title }) => ({ title, names: sorted.filter((name) => groupOf(name) === title) }))
    .filter((group) => group.names.length > 0);
}
