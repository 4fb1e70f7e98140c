/** `agent-trainer export`: recorded episodes in the formats of other programs, as JSON lines. */
import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { finished } from "node:stream/promises";
import { ConfigError } from "../../core/errors.ts";
import type { Episode } from "../../core/trajectory.ts";
import { readEpisodes } from "../../runs/evaluations/recorded-episodes.ts";
import { trainingFiles } from "../../launch/finetune/examples/episode-examples.ts";
import { exportFormats, type ExportFormat } from "../export/formats.ts";
import { exitCodes } from "../terminal/exit-codes.ts";
import type { CliIo } from "../terminal/io.ts";
import { watchInterrupt } from "../terminal/interrupt.ts";

export interface ExportFlags {
  readonly format: ExportFormat;
  readonly episode?: string;
  readonly output?: string;
  readonly minReward?: number;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** What is learned from must not be what is validated on. */
const forLearning: ReadonlySet<ExportFormat> = new Set(["chat", "pairs"]);

function* chosen(
  folder: string,
  format: ExportFormat,
  wanted: string | undefined,
  signal: AbortSignal,
): Generator<Episode> {
  let number = 0;
  let found = 0;
  for (const episode of readEpisodes(
    folder,
    forLearning.has(format) ? trainingFiles(folder) : undefined,
  )) {
    signal.throwIfAborted();
    number++;
    if (wanted !== undefined && episode.id !== wanted && String(number) !== wanted) continue;
    found++;
    yield episode;
  }
  if (found > 0 || wanted === undefined) return;
  throw new ConfigError({
    message: `${folder} has no episode ${JSON.stringify(wanted)}; it has ${number}.`,
    hint: `To list them, run: agent-trainer show ${folder}`,
    fields: { folder, wanted },
  });
}

/** Returns the exit status. @throws ConfigError when nothing can be exported. */
export async function exportCommand(
  folder: string,
  { format, episode, output, minReward, json = false, quiet = false }: ExportFlags,
  version: string,
  io: CliIo,
): Promise<number> {
  using interrupt = watchInterrupt(() => void io.stderr.write("Stopping.\n"));
  const episodes = chosen(folder, format, episode, interrupt.signal);
  const options = { minReward: minReward ?? null, version };
  const file = output === undefined ? null : createWriteStream(output);
  const failed =
    file === null ? null : once(file, "error").then(([error]) => Promise.reject(error));
  failed?.catch(() => {});
  let documents = 0;
  for (const document of exportFormats[format](episodes, options)) {
    documents++;
    const line = `${JSON.stringify(document)}\n`;
    if (file === null) io.stdout.write(line);
    // oxlint-disable-next-line no-await-in-loop
    else if (!file.write(line)) await Promise.race([once(file, "drain"), failed]);
  }
  if (file !== null) {
    file.end();
    await finished(file);
  }
  if (documents === 0) {
    throw new ConfigError({
      message: `${folder} has nothing to export as ${format}.`,
      hint: hints[format],
      fields: { folder, format },
    });
  }
  if (!quiet && output !== undefined) {
    io.stderr.write(`${documents} ${documents === 1 ? "document" : "documents"} in ${output}\n`);
  }
  if (json && output !== undefined)
    io.stdout.write(`${JSON.stringify({ format, output, documents })}\n`);
  return exitCodes.done;
}

const hints: Readonly<Record<ExportFormat, string>> = {
  atif: "No episode has a model call.",
  otel: "No episode has a model call.",
  trackio: "No episode has a model call.",
  "training-trace": "No call has token ids: the model's server did not return them.",
  chat: "No episode is correct; set --min-reward to take others.",
  pairs: "No task has episodes with different rewards.",
};
