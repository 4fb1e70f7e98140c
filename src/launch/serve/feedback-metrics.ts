/** Feedback on served calls, in Prometheus' text format. */
import type { ServedCalls } from "./served-calls.ts";

function family(name: string, type: string, help: string, samples: readonly string[]): string {
  if (samples.length === 0) return "";
  const full = `agent_trainer_serve_${name}`;
  const head = [`# HELP ${full} ${help}`, `# TYPE ${full} ${type}`];
  return [...head, ...samples.map((sample) => `${full}${sample}`), ""].join("\n");
}

export function feedbackMetrics(calls: ServedCalls): string {
  const versions = Array.from(calls.versions(), ([version, { n, sum }]) => ({
    labels: `{version=${JSON.stringify(version)}}`,
    ...{ n, mean: sum / n },
  }));
  return [
    family(
      "feedback",
      "gauge",
      "Pieces of feedback with a score, by version.",
      versions.map(({ labels, n }) => `${labels} ${n}`),
    ),
    family(
      "feedback_mean",
      "gauge",
      "Mean score of feedback, from 0 to 1, by version.",
      versions.map(({ labels, mean }) => `${labels} ${mean}`),
    ),
    family("feedback_unknown_total", "counter", "Feedback about nothing that was served.", [
      ` ${calls.unknown}`,
    ]),
    family("feedback_duplicates_total", "counter", "Feedback that was sent again.", [
      ` ${calls.duplicates}`,
    ]),
    family("calls_lost_total", "counter", "Calls that could not be kept.", [` ${calls.lost}`]),
  ].join("");
}
