/** `agent-trainer doctor service URL`: what a Tinker server can do, each by probing it. */
import { ConfigError } from "../../core/errors.ts";
import { defined } from "../../util/defined.ts";
import { type CliCommand, defineCommand } from "../define-command.ts";
import { inspectService, type ServiceReport } from "../service/inspect-service.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { wholeNumber } from "../terminal/flag-values.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import { writeResult } from "../terminal/io.ts";
import { createLiveLine } from "../terminal/live-line.ts";
import { colorsFor, type Colors, safeText } from "../terminal/terminal.ts";
import { type Finding, topics, type Verdict } from "../service/finding.ts";

/** How the `tinker` backend can use the server. */
type Training = "asynchronous" | "synchronous" | "none";

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

/** A report about a Tinker server, as a table for a terminal or as Markdown. */
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

const help = `
Each line is the result of a probe: yes is what the Tinker service documents, differs is done in another
way, no is refused or ignored. The probes create a LoRA adapter, train it for a few steps on nine tokens,
sample a few dozen tokens, and unload it; one checkpoint is left that expires after an hour.

The key is read from TINKER_API_KEY where --key is not given. The exit status is 1 where backend=tinker
cannot train on the server.

Examples:
  $ agent-trainer doctor service http://127.0.0.1:8100 --key tml-local
  $ agent-trainer doctor service http://127.0.0.1:8000 --model Qwen/Qwen3-0.6B --json
`;

/** Resolves with 1 where the server cannot be trained on. */
export const command: CliCommand = defineCommand({
  flags: (service) =>
    service
      .argument("<url>", "base URL of the server, such as http://127.0.0.1:8100")
      .option("--key <key>", "API key (default: TINKER_API_KEY)")
      .option("--model <name>", "base model to probe (default: the first that the server names)")
      .option("--rank <n>", "rank of the adapter that is trained", wholeNumber(1), 8),
  help,
  async run([url], { key, model, rank, json = false, quiet = false }, io) {
    using interrupt = watchInterrupt(
      io,
      "Stopping; the probe's model is unloaded. Press Ctrl-C again to quit now.",
    );
    if (!URL.canParse(url) || !/^https?:/u.test(url))
      throw new ConfigError({
        message: `"${url}" is not the URL of a server.`,
        hint: "Give one such as http://127.0.0.1:8100.",
        fields: { url },
      });
    const line = createLiveLine({ stream: io.stderr, isQuiet: quiet });
    const report = await inspectService({
      client: { baseUrl: url, ...defined({ apiKey: key }) },
      rank,
      signal: interrupt.signal,
      ...defined({ baseModel: model }),
      onProbe: (done, of, { topic, name }) => line.show([`${done}/${of}`, `${topic}: ${name}`]),
    }).finally(() => line.clear());
    const training = trainingOn(report);
    const text = formatServiceReport(report, colorsFor(io.stdout));
    writeResult(io, json, { ...report, training }, text);
    return training === "none" ? exitCodes.failed : exitCodes.done;
  },
});
