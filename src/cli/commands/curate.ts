/** `agent-trainer curate`: what production recorded, as files that training reads, with a report. */
import { join } from "node:path";
import { loadScrub } from "../../launch/load-scrub.ts";
import { curate } from "../../production/curate/curate.ts";
import type { CurateReport } from "../../production/curate/report.ts";
import { defined } from "../../util/defined.ts";
import { countsText } from "../report/counts-text.ts";
import { type CliCommand, defineCommand, Option } from "../define-command.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { numberBetween } from "../terminal/flag-values.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import { writeResult } from "../terminal/io.ts";

const help = `
The output folder gets tasks.jsonl (for train), demonstrations.jsonl (for sft), preferences.jsonl (for dpo, from
corrections), feedback.jsonl (for kto), the same of what is held out in val/, and report.json.
Addresses of mail, numbers of phones, cards and accounts, and IP addresses are replaced before anything is written;
--scrub names a function that sees every text after that, and returns it, changed or not, or null to drop the turn.

Examples:
  $ agent-trainer curate production --output curated
  $ agent-trainer curate production --output curated --split time --outcome resolved
  $ agent-trainer curate production --output curated --scrub ./scrub.ts
  $ agent-trainer kto shop.yaml --train curated/feedback.jsonl
`;

function summaryOf(output: string, report: CurateReport): string {
  const { turns, conversations, rows, dropped, missing } = report;
  const lines = [
    `${output}: ${turns} turns of ${conversations} conversations`,
    ...Object.entries(rows).map(
      ([name, { train, val }]) => `  ${name}.jsonl  ${train} rows, ${val} held out`,
    ),
    ...(Object.keys(dropped).length === 0 ? [] : [`  in no file: ${countsText(dropped)}`]),
    ...missing.map((sentence) => `note: ${sentence}`),
    `All of it in numbers: ${join(output, "report.json")}`,
  ];
  return `${lines.join("\n")}\n`;
}

/** @throws ConfigError where there are no traces, or the output exists. */
export const command: CliCommand = defineCommand({
  flags: (flags) =>
    flags
      .argument("<folder>", "folder that agent-trainer collect filled")
      .requiredOption("--output <folder>", "folder to create")
      .addOption(
        new Option(
          "--split <by>",
          "what is held out: whole users (user), or the newest conversations (time)",
        )
          .choices(["user", "time"] as const)
          .default("user" as const),
      )
      .option("--val-fraction <x>", "how much is held out, 0 to 0.9", numberBetween(0, 0.9), 0.1)
      .option(
        "--outcome <name>",
        "an outcome of feedback that is a score too: true or false, or 0 to 1",
      )
      .option(
        "--rating <name>",
        "scores of this name are the ratings, instead of those whose name says so",
      )
      .option("--unrated", "take answers without feedback as demonstrations too")
      .option(
        "--scrub <module>",
        "function that sees every text before it is written: FILE or FILE#EXPORT",
      ),
  help,
  async run([folder], flags, io) {
    const { output, split, valFraction, outcome, rating, unrated, scrub, json } = flags;
    using interrupt = watchInterrupt(io, "Stopping: nothing is written.");
    const hook = scrub === undefined ? undefined : await loadScrub(scrub, process.cwd(), "--scrub");
    const report = await curate({
      folder,
      output,
      splitBy: split,
      valFraction,
      ...defined({ outcome, rating, unrated, scrub: hook }),
      signal: interrupt.signal,
    });
    writeResult(io, json, { output, ...report }, summaryOf(output, report));
    return exitCodes.done;
  },
});
