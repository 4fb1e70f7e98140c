/** Metrics that are looked at first when a run does not learn, one line each. Pure. */
import type { MetricTable } from "../api/runs.ts";

export interface VitalSign {
  readonly name: string;
  readonly metric: string;
  readonly unit: "percent" | "number";
  /** What to think of it. */
  readonly meaning: string;
}

const signs: readonly (Omit<VitalSign, "metric"> & { readonly form: RegExp })[] = [
  {
    name: "Groups to learn from",
    form: /^groups\/[^/]+\/informative_fraction$/u,
    unit: "percent",
    meaning:
      "Groups whose rollouts have different rewards. The others have no advantage to learn from.",
  },
  {
    name: "Entropy",
    form: /^train\/entropy$/u,
    unit: "number",
    meaning: "How open the policy is, in nats per token. Near zero, it tries nothing new.",
  },
  {
    name: "Gradient norm",
    form: /^train\/grad_norm$/u,
    unit: "number",
    meaning:
      "Before clipping. Zero means that nothing is learned; sudden peaks that updates are too large.",
  },
  {
    name: "Sampler to trainer",
    form: /^train\/logprob_abs_diff_mean$/u,
    unit: "number",
    meaning:
      "Mean difference of log-probabilities between sampling and training. Large with stale weights or two engines that compute differently.",
  },
  {
    name: "Response tokens",
    form: /^episode\/tokens\/response$/u,
    unit: "number",
    meaning: "Sampled tokens of a rollout.",
  },
  {
    name: "Cut off",
    form: /^episode\/truncated$/u,
    unit: "number",
    meaning: "Calls of a rollout that ended at their limit of tokens.",
  },
  {
    name: "Tool errors",
    form: /^episode\/tools\/errors$/u,
    unit: "number",
    meaning: "Results of tools of a rollout that report an error.",
  },
  {
    name: "Failed rollouts",
    form: /^rollout\/failed$/u,
    unit: "number",
    meaning: "Rollouts of a step that failed in every attempt.",
  },
];

/** Those that the run reports. */
export const vitalSigns = ({ series }: MetricTable): readonly VitalSign[] =>
  signs.flatMap(({ form, ...sign }) => {
    const metric = Object.keys(series).find((name) => form.test(name));
    return metric === undefined ? [] : [{ ...sign, metric }];
  });
