/** Names what is wrong with a run, from its metrics alone. Pure, so that any caller can use it. */
import type { Finding } from "../api.ts";
import type { MetricLine } from "../metrics-file.ts";

/** Steps that the rules look at: the newest ones. */
const windowSteps = 10;

interface Rule {
  readonly name: string;
  readonly severity: Finding["severity"];
  readonly metric: string;
  /** Whether the value of a step is a symptom; `first` is that of the run's first step. */
  readonly isBad: (value: number, first: number) => boolean;
  readonly says: (value: number, first: number) => string;
  readonly advice: string;
  readonly doc: string;
  /** Share of the window's steps that must show it. */
  readonly share: number;
  readonly filter?: Finding["filter"];
}

const percent = (value: number): string => `${(100 * value).toFixed(0)} %`;
const short = (value: number): string => String(Number(value.toPrecision(3)));

const rules: readonly Rule[] = [
  {
    name: "no reward variance",
    severity: "problem",
    metric: "reward/std",
    isBad: (value) => value < 1e-9,
    says: () => "all rewards of a step are equal",
    advice:
      "Nothing can be learned from equal rewards: make tasks easier or harder, or grade the reward.",
    doc: "docs/reward-is-flat.md",
    share: 0.6,
  },
  {
    name: "few informative groups",
    severity: "warning",
    metric: "groups/{role}/informative_fraction",
    isBad: (value) => value < 0.1,
    says: (value) => `only ${percent(value)} of the groups have rewards that differ`,
    advice: "Most rollouts teach nothing. Raise rollout.n, or choose tasks of medium difficulty.",
    doc: "docs/reward-is-flat.md",
    share: 0.6,
  },
  {
    name: "gradient is zero",
    severity: "problem",
    metric: "train/grad_norm",
    isBad: (value) => value < 1e-12,
    says: () => "the gradient's norm is 0",
    advice:
      "All advantages are 0, or everything was masked. Look at reward/std and groups/dropped.",
    doc: "docs/reward-is-flat.md",
    share: 0.5,
  },
  {
    name: "gradient explodes",
    severity: "problem",
    metric: "train/grad_norm",
    isBad: (value, first) => value > 100 && value > 20 * first,
    says: (value, first) =>
      `the gradient's norm is ${short(value)}, and was ${short(first)} at first`,
    advice: "Lower training.learning_rate.",
    doc: "docs/training.md",
    share: 0.2,
  },
  {
    name: "entropy collapse",
    severity: "problem",
    metric: "train/entropy",
    isBad: (value, first) => first > 0.05 && value < 0.1 * first,
    says: (value, first) => `entropy fell from ${short(first)} to ${short(value)} nats`,
    advice: "The policy no longer explores. Lower the learning rate, or add an entropy or KL term.",
    doc: "docs/algorithms.md",
    share: 0.5,
  },
  {
    name: "length collapse",
    severity: "warning",
    metric: "episode/tokens/response",
    isBad: (value, first) => first >= 8 && value < 0.2 * first,
    says: (value, first) => `responses shrank from ${short(first)} to ${short(value)} tokens`,
    advice: "Read some responses: short ones may have found a loophole of the reward.",
    doc: "docs/reward-is-flat.md",
    share: 0.5,
  },
  {
    name: "truncation",
    severity: "problem",
    metric: "episode/truncated",
    isBad: (value) => value > 0.2,
    says: (value) => `${percent(value)} of the rollouts have a truncated response`,
    advice: "Raise rollout.train.max_tokens, or penalize length.",
    doc: "docs/reward-is-flat.md",
    share: 0.5,
    filter: { only: "truncated" },
  },
  {
    name: "failed rollouts",
    severity: "problem",
    metric: "rollout/failed",
    isBad: (value) => value > 0,
    says: (value) => `${short(value)} rollouts of a step failed`,
    advice: "Open one of them: its banner says what failed.",
    doc: "docs/your-agent.md",
    share: 0.3,
    filter: { only: "errors" },
  },
  {
    name: "retries",
    severity: "warning",
    metric: "rollout/retries",
    isBad: (value) => value > 0,
    says: (value) => `${short(value)} attempts of a step had to be repeated`,
    advice: "A server or the setup fails now and then; events.jsonl has each error.",
    doc: "docs/your-agent.md",
    share: 0.5,
  },
  {
    name: "calls that cannot be trained on",
    severity: "warning",
    metric: "episode/calls/untrainable",
    isBad: (value) => value > 0.05,
    says: (value) => `${short(value)} calls per rollout cannot be trained on`,
    advice: "Open an episode: the call says why.",
    doc: "docs/gateway.md",
    share: 0.5,
  },
  {
    name: "sampler and trainer differ",
    severity: "problem",
    metric: "train/logprob_abs_diff_mean",
    isBad: (value) => value > 0.1,
    says: (value) => `log-probabilities differ by ${short(value)} on average`,
    advice:
      "Check that both sides have the same weights, precision and chat template, or use a rollout correction.",
    doc: "docs/algorithms.md",
    share: 0.5,
  },
  {
    name: "policy moves too far per step",
    severity: "warning",
    metric: "train/clip_fraction",
    isBad: (value) => value > 0.4,
    says: (value) => `${percent(value)} of the tokens were clipped`,
    advice: "Lower the learning rate, or make fewer updates per batch.",
    doc: "docs/algorithms.md",
    share: 0.5,
  },
  {
    name: "skipped updates",
    severity: "problem",
    metric: "train/skipped_updates",
    isBad: (value) => value > 0,
    says: (value) => `${short(value)} updates of a step were skipped`,
    advice: "train/skip_reason/... names the reason.",
    doc: "docs/metrics.md",
    share: 0.3,
  },
];

function valuesOf(metric: string, lines: readonly MetricLine[]): [number, number][] {
  const pattern = metric.split("{role}");
  const matches = (name: string): boolean =>
    pattern.length === 1
      ? name === metric
      : name.startsWith(pattern[0] ?? "") && name.endsWith(pattern[1] ?? "");
  return lines.flatMap(({ step, values }) =>
    Object.entries(values).flatMap(([name, value]): [number, number][] =>
      matches(name) ? [[step, value]] : [],
    ),
  );
}

function apply(rule: Rule, train: readonly MetricLine[]): Finding[] {
  const all = valuesOf(rule.metric, train);
  const first = all[0]?.[1];
  const seen = all.slice(-windowSteps);
  if (first === undefined || seen.length < 2) return [];
  const bad = seen.filter(([, value]) => rule.isBad(value, first));
  const last = bad.at(-1);
  if (last === undefined || bad.length < rule.share * seen.length) return [];
  return [
    {
      name: rule.name,
      severity: rule.severity,
      evidence: `${rule.says(last[1], first)} (${bad.length} of the last ${seen.length} steps; ${rule.metric})`,
      advice: rule.advice,
      steps: [...new Set(bad.map(([step]) => step))],
      doc: rule.doc,
      ...(rule.filter === undefined ? {} : { filter: rule.filter }),
    },
  ];
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** Change from the first to the last third, in standard deviations of all values; null for too few. */
function trend(values: readonly number[]): number | null {
  if (values.length < 9) return null;
  const third = Math.floor(values.length / 3);
  const center = mean(values);
  const deviation = Math.sqrt(mean(values.map((value) => (value - center) ** 2)));
  if (deviation < 1e-12) return 0;
  return (mean(values.slice(-third)) - mean(values.slice(0, third))) / deviation;
}

const series = (lines: readonly MetricLine[], name: string): number[] =>
  lines.flatMap(({ values }) => (values[name] === undefined ? [] : [values[name]]));

/** A component of the reward rises while correctness or validation falls. */
function hackedReward(lines: readonly MetricLine[]): Finding[] {
  const train = lines.filter(({ phase }) => phase === "train");
  const rise = trend(series(train, "reward/mean"));
  if (rise === null || rise < 1) return [];
  const others = [
    ["rollout/pass@1", trend(series(train, "rollout/pass@1"))],
    ["val/reward/mean", trend(series(lines, "val/reward/mean"))],
  ] as const;
  return others.flatMap(([name, fall]): Finding[] =>
    fall !== null && fall < -1
      ? [
          {
            name: name.startsWith("val/")
              ? "validation diverges from training"
              : "reward is hacked",
            severity: "problem",
            evidence: `reward/mean rises while ${name} falls`,
            advice:
              "Read episodes with a high reward: the reward pays for something else than the task.",
            steps: [],
            doc: "docs/reward-is-flat.md",
          },
        ]
      : [],
  );
}

/** Problems of a run, from the lines of its `metrics.jsonl` in order; the worst first. */
export function findProblems(lines: readonly MetricLine[]): readonly Finding[] {
  const train = lines.filter(({ phase }) => phase === "train");
  const found = [...rules.flatMap((rule) => apply(rule, train)), ...hackedReward(lines)];
  return found.toSorted((a, b) => a.severity.localeCompare(b.severity));
}
