/** Versions and their feedback, in Prometheus' text format. */
import type { CanaryModel } from "./canary/canary-model.ts";
import type { ServedCalls } from "./served-calls.ts";

const prefix = "agent_trainer_serve_";

function family(name: string, type: string, help: string, samples: readonly string[]): string[] {
  if (samples.length === 0) return [];
  const full = prefix + name;
  const head = [`# HELP ${full} ${help}`, `# TYPE ${full} ${type}`];
  return [...head, ...samples.map((sample) => `${full}${sample}`)];
}

const labels = (given: Readonly<Record<string, string>>): string =>
  `{${Object.entries(given)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(",")}}`;

/** @param canaries of the models that have one */
export function feedbackMetrics(calls: ServedCalls, canaries: readonly CanaryModel[]): string {
  const versions = calls.versions();
  const inUse = canaries.flatMap(({ name, state: { current, trial } }) => [
    labels({ model: name, version: current.version, role: "current" }),
    ...(trial === null ? [] : [labels({ model: name, version: trial.version, role: "candidate" })]),
  ]);
  const ended = (end: string): string[] =>
    canaries.map(({ name, state }) => {
      const count = state.ended.filter((one) => one.end === end).length;
      return `${labels({ model: name })} ${count}`;
    });
  const lines = [
    ...family(
      "feedback",
      "gauge",
      "Pieces of feedback with a score, by version.",
      versions.map(([version, { n }]) => `${labels({ version })} ${n}`),
    ),
    ...family(
      "feedback_mean",
      "gauge",
      "Mean score of feedback, from 0 to 1, by version.",
      versions.map(([version, { n, sum }]) => `${labels({ version })} ${sum / n}`),
    ),
    ...family("feedback_unknown_total", "counter", "Feedback about nothing that was served.", [
      ` ${calls.unknown}`,
    ]),
    ...family("feedback_duplicates_total", "counter", "Feedback that was sent again.", [
      ` ${calls.duplicates}`,
    ]),
    ...family("calls_lost_total", "counter", "Calls that could not be kept.", [` ${calls.lost}`]),
    ...family(
      "version_info",
      "gauge",
      "Versions in use and on trial.",
      inUse.map((each) => `${each} 1`),
    ),
    ...family("promotions_total", "counter", "Candidates that were promoted.", ended("promoted")),
    ...family(
      "rollbacks_total",
      "counter",
      "Candidates that were rolled back.",
      ended("rolled back"),
    ),
  ];
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}
