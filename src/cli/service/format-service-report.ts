/** A report about a Tinker server, as a table for a terminal or as Markdown. */
import { type Colors, safeText } from "../terminal/terminal.ts";
import { type Finding, topics, type Verdict } from "./finding.ts";
import type { ServiceReport } from "./inspect-service.ts";

/** How the `tinker` backend can use the server. */
export type Training = "asynchronous" | "synchronous" | "none";

const verdictOf = (report: ServiceReport, name: string): Verdict | undefined =>
  report.findings.find((finding) => finding.name === name)?.verdict;

/** What runs with `backend=tinker` can do there. */
export function trainingOn(report: ServiceReport): Training {
  const losses = ["importance_sampling", "ppo", "cispo"].map((name) => verdictOf(report, name));
  if (
    losses.every((verdict) => verdict === "no") ||
    verdictOf(report, "log-probabilities") === "no"
  )
    return "none";
  return verdictOf(report, "keep their weights") === "no" ? "synchronous" : "asynchronous";
}

const sentences: Readonly<Record<Training, string>> = {
  asynchronous: "backend=tinker can train on this server, synchronously and asynchronously.",
  synchronous:
    "backend=tinker can train on this server synchronously only: set tinker.snapshots=live.",
  none: "backend=tinker cannot train on this server: it has no policy loss, or samples without log-probabilities.",
};

export function formatServiceReport(report: ServiceReport, colors: Colors): string {
  const paint: Readonly<Record<Verdict, (text: string) => string>> = {
    yes: colors.green,
    no: colors.red,
    differs: colors.yellow,
    unknown: colors.dim,
  };
  const width = Math.max(...report.findings.map(({ name }) => name.length));
  const line = ({ name, verdict, detail }: Finding): string =>
    `  ${name.padEnd(width)}  ${paint[verdict](verdict.padEnd(7))}  ${safeText(detail)}`;
  const names = report.models.map(({ name, contextLength }) =>
    contextLength === null ? `${name}` : `${name} (${contextLength} tokens)`,
  );
  return [
    `server  ${safeText(report.url)}`,
    `models  ${safeText(names.join(", "))}`,
    `asked   ${safeText(report.baseModel)}`,
    ...topics.flatMap((topic) => [
      "",
      topic,
      ...report.findings.filter((finding) => finding.topic === topic).map(line),
    ]),
    "",
    sentences[trainingOn(report)],
    "",
  ].join("\n");
}
