/** `docs/metrics.md`, written from the catalog of metrics. */
import {
  type MetricEntry,
  metricSections,
  type MetricSection,
} from "../src/core/metrics/catalog.ts";

export const metricPage = "docs/metrics.md";

const intro = `# Metrics

One line per step and per validation in \`metrics.jsonl\`: \`step\`, \`phase\` (\`train\` or \`validation\`) and the numbers below, which \`step-end\` and \`validation-end\` events have too. Only \`time/...\` and \`tokens/per_s\` depend on the clock; everything else is the same for the same seed. Every number is finite: a metric without a value is absent. A name in braces is a placeholder: \`{role}\` is the name of a trajectory.

What to look at when a run does not learn: [my reward is flat](health.md#my-reward-is-flat). The gateway's own numbers are under [\`GET /metrics\`](gateway-reference.md#routes).
`;

function reported({ when, backends }: MetricEntry): string {
  const by = backends === undefined ? [] : [`backend ${backends.join(", ")}`];
  const conditions = [...(when === undefined ? [] : [when]), ...by];
  return conditions.length === 0 ? "always" : conditions.join("; ");
}

function row(entry: MetricEntry): string {
  const names = entry.names.map((name) => `\`${name}\``).join(", ");
  return `| ${names} | ${entry.unit} | ${entry.meaning} | ${reported(entry)} |`;
}

function section({ title, about, entries }: MetricSection): string {
  const text = about === undefined ? "" : `\n${about}\n`;
  const head = "| metric | unit | meaning | reported |\n| --- | --- | --- | --- |";
  return `## ${title}\n${text}\n${head}\n${entries.map(row).join("\n")}\n`;
}

export function metricPageText(): string {
  return [intro, ...metricSections.map(section)].join("\n");
}
