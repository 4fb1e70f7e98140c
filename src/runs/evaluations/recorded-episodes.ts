/** Reads the episodes that a run or an evaluation recorded, one at a time. */
import { closeSync, existsSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../core/errors.ts";
import type { Episode, Step } from "../../core/trajectory.ts";
import { type Line, readLines } from "../../datasets/files/json-lines-file.ts";
import { gzipBlocks } from "../../util/files/gzip-blocks.ts";
import { episodesFile, isEvaluation } from "./evaluation-folder.ts";

/** Files with a line per episode; those of a run by step, training before validation. */
export function episodeFiles(folder: string): readonly string[] {
  if (isEvaluation(folder)) return [episodesFile(folder)];
  const episodes = join(folder, "episodes");
  const names = existsSync(episodes) ? readdirSync(episodes) : [];
  const stepOf = (name: string): string => name.replace("val-", "");
  const files = names
    .filter((name) => /^(?:val-)?\d+\.jsonl(?:\.gz)?$/u.test(name))
    .sort((a, b) => stepOf(a).localeCompare(stepOf(b)) || a.localeCompare(b));
  if (files.length > 0) return files.map((name) => join(episodes, name));
  throw new ConfigError({
    message: `${folder} holds no recorded episodes: it is neither the folder of an evaluation nor that of a run.`,
    hint: "Give a folder with episodes/ or evaluation.json in it.",
    fields: { folder },
  });
}

/** One of these files by its name, without listing all. */
export const episodePath = (folder: string, name: string): string =>
  isEvaluation(folder) ? episodesFile(folder) : join(folder, "episodes", name);

const numbers = (value: unknown): readonly number[] => (Array.isArray(value) ? value : []);

/** JSON has plain lists where evaluators are used to typed arrays. */
function restoreStep(step: Step): Step {
  const { promptIds, responseIds, logprobs, temperedLogprobs, ...trace } = step.trace;
  return {
    ...step,
    trace: {
      ...trace,
      promptIds: Int32Array.from(numbers(promptIds)),
      responseIds: Int32Array.from(numbers(responseIds)),
      logprobs: Float32Array.from(numbers(logprobs)),
      ...(temperedLogprobs === undefined
        ? {}
        : { temperedLogprobs: Float32Array.from(numbers(temperedLogprobs)) }),
    },
  };
}

function toEpisode(text: string, at: string): Episode {
  let episode: Partial<Episode> | null = null;
  let cause: unknown;
  try {
    episode = JSON.parse(text) as Partial<Episode> | null;
  } catch (error) {
    cause = error;
  }
  const { id, task, trajectories } = episode ?? {};
  if (typeof id !== "string" || typeof task?.id !== "string" || !Array.isArray(trajectories)) {
    throw new ConfigError({
      message: `${at} is not a recorded episode.`,
      hint: "Remove the line; the other episodes can be used without it.",
      cause,
      fields: { at },
    });
  }
  const whole = episode as Episode;
  return {
    ...whole,
    trajectories: whole.trajectories.map((trajectory) =>
      Object.assign({}, trajectory, { steps: trajectory.steps.map(restoreStep) }),
    ),
  };
}

/** Lines of a file of gzip members (`record.compression`). */
function* packedLines(file: string): Generator<Line> {
  const handle = openSync(file, "r");
  try {
    let number = 1;
    for (const { content, at } of gzipBlocks(handle)) {
      if (content === null)
        throw new ConfigError({
          message: `${file} is damaged: its part from byte ${at} on cannot be unpacked.`,
          hint: "Remove the file; episodes of other steps can be used without it.",
          fields: { file, at },
        });
      for (const text of content.toString("utf8").split("\n").slice(0, -1))
        yield { text, number: number++ };
    }
  } finally {
    closeSync(handle);
  }
}

/**
 * @param files those of `episodeFiles`, or some of them. @default all
 * @throws ConfigError with the file and line of what is not an episode.
 */
export function* readEpisodes(
  folder: string,
  files: readonly string[] = episodeFiles(folder),
): Generator<Episode> {
  for (const file of files) {
    for (const { text, number } of file.endsWith(".gz") ? packedLines(file) : readLines(file)) {
      if (text.trim() !== "") yield toEpisode(text, `${file}:${number}`);
    }
  }
}
