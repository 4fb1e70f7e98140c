/** `agent-trainer export`: recorded episodes in the formats of other programs, as JSON lines. */
import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { finished } from "node:stream/promises";
import { ConfigError } from "../../core/errors.ts";
import type { Episode } from "../../core/trajectory.ts";
import {
  isNamed,
  noSuchEpisode,
  recordedEpisodes,
} from "../../runs/evaluations/recorded-episodes.ts";
import { trainingFiles } from "../../launch/finetune/examples/episode-examples.ts";
import { writeJson } from "../../util/raw-json.ts";
import { type CliCommand, defineCommand, Option } from "../define-command.ts";
import { packageVersion } from "../load/package-version.ts";
import { countsText } from "../report/counts-text.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import { anyNumber } from "../terminal/flag-values.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";
import { type ExportFormat, exportFormatNames, exportFormats } from "../export/formats.ts";

const help = `
Formats, each one JSON document per line:
  atif   Harbor's Agent Trajectory Interchange Format v1.8, a document per trajectory
  chat   {messages, tools} of correct episodes, or of those from --min-reward on, for SFT
  pairs  {prompt, chosen, rejected}: the best and the worst of each task of a step, for DPO
Episodes of validations are in atif only: chat and pairs are for learning. Conversations with a response that was cut
off, or a call without its result, are left out of these two as well, and are counted.

Examples:
  $ agent-trainer export runs/shop --format atif --output shop.atif.jsonl
  $ agent-trainer export evals/before --format chat --min-reward 0.8 --output good.jsonl
`;

function* chosen(
  folder: string,
  format: ExportFormat,
  wanted: string | undefined,
  signal: AbortSignal,
): Generator<Episode> {
  // What is learned from must not be what is validated on.
  const files = format === "atif" ? {} : { files: trainingFiles(folder) };
  const ids: string[] = [];
  let isFound = false;
  for (const recorded of recordedEpisodes(folder, files)) {
    signal.throwIfAborted();
    ids.push(recorded.episode.id);
    if (wanted !== undefined && !isNamed(recorded, wanted)) continue;
    isFound = true;
    yield recorded.episode;
  }
  if (!isFound && wanted !== undefined) throw noSuchEpisode(folder, wanted, ids);
}

const hints: Readonly<Record<ExportFormat, string>> = {
  atif: "No episode has a model call.",
  chat: "No episode is correct; set --min-reward to take others.",
  pairs: "No task has episodes with different rewards.",
};

/** @throws ConfigError when nothing can be exported. */
export const command: CliCommand = defineCommand({
  flags: (exported) =>
    exported
      .argument("<folder>", "folder of a run or of an evaluation")
      .addOption(
        new Option("--format <name>", "format to write")
          .choices(exportFormatNames)
          .makeOptionMandatory(),
      )
      .option("--episode <id>", "only this episode: its id, or its number in the list of show")
      .option("--output <file>", "file to write (default: standard output)")
      .option("--min-reward <n>", "for chat: the smallest reward of a conversation", anyNumber),
  help,
  async run([folder], { format, episode, output, minReward, json, quiet = false }, io) {
    using interrupt = watchInterrupt(io, "Stopping.");
    const episodes = chosen(folder, format, episode, interrupt.signal);
    const left = new Map<string, number>();
    const options = {
      minReward: minReward ?? null,
      version: packageVersion(),
      onDamage: (why: string) => void left.set(why, (left.get(why) ?? 0) + 1),
    };
    const file = output === undefined ? null : createWriteStream(output);
    const failed =
      file === null ? null : once(file, "error").then(([error]) => Promise.reject(error));
    failed?.catch(() => {});
    let documents = 0;
    for (const document of exportFormats[format](episodes, options)) {
      documents++;
      const line = `${writeJson(document)}\n`;
      if (file === null) io.stdout.write(line);
      // oxlint-disable-next-line no-await-in-loop
      else if (!file.write(line)) await Promise.race([once(file, "drain"), failed]);
    }
    if (file !== null) {
      file.end();
      await finished(file);
    }
    const leftOut = Object.fromEntries(left);
    if (documents === 0) {
      const why =
        left.size === 0 ? "" : ` Conversations that are not whole: ${countsText(leftOut)}.`;
      throw new ConfigError({
        message: `${folder} has nothing to export as ${format}.${why}`,
        hint: hints[format],
        fields: { folder, format },
      });
    }
    if (!quiet && output !== undefined) {
      io.stderr.write(`${documents} ${documents === 1 ? "document" : "documents"} in ${output}\n`);
    }
    if (!quiet && left.size > 0)
      io.stderr.write(`Left out, since they are not whole: ${countsText(leftOut)}\n`);
    if (json === true && output !== undefined)
      io.stdout.write(`${JSON.stringify({ format, output, documents, leftOut })}\n`);
    return exitCodes.done;
  },
});
