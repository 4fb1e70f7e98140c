/** Reads the episodes that a run or an evaluation recorded, one at a time. */
import { closeSync, existsSync, openSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { ConfigError } from "../../core/errors.ts";
import type { Episode, Step } from "../../core/trajectory.ts";
import { type Line, readLines } from "../../datasets/files/json-lines-file.ts";
import { gzipBlocks } from "../../util/files/gzip-blocks.ts";
import { nearestName } from "../../util/nearest-name.ts";
import { episodesFile, isEvaluation } from "./evaluation-folder.ts";
import { type EpisodePhase, parseEpisode } from "./recorded-episode.ts";

/** An episode with its place in the records. */
export interface RecordedEpisode {
  readonly episode: Episode;
  /** Among those of the folder, from 1. */
  readonly number: number;
  readonly step: number;
  readonly phase: EpisodePhase;
}

export interface ReadOptions {
  /** Those of `episodeFiles`, or some of them. @default all */
  readonly files?: readonly string[];
  /** Called with the file and line of what is not an episode. @default an error */
  readonly onDamaged?: (at: string) => void;
}

const filePattern = /^(val-)?(\d+)\.jsonl(?:\.gz)?$/u;

/** A run or an evaluation below a folder, for the hint that it is meant. */
function firstBelow(folder: string): string | undefined {
  const names = existsSync(folder) ? readdirSync(folder).toSorted() : [];
  return names
    .map((name) => join(folder, name))
    .find((path) => isEvaluation(path) || existsSync(join(path, "episodes")));
}

/** Files with a line per episode; those of a run by step, training before validation. */
export function episodeFiles(folder: string): readonly string[] {
  if (isEvaluation(folder)) return [episodesFile(folder)];
  const episodes = join(folder, "episodes");
  const names = existsSync(episodes) ? readdirSync(episodes) : [];
  const stepOf = (name: string): string => name.replace("val-", "");
  const files = names
    .filter((name) => filePattern.test(name))
    .sort((a, b) => stepOf(a).localeCompare(stepOf(b)) || a.localeCompare(b));
  if (files.length > 0) return files.map((name) => join(episodes, name));
  const below = firstBelow(folder);
  throw new ConfigError({
    message: `${folder} holds no recorded episodes: it is neither the folder of an evaluation nor that of a run.`,
    hint:
      below === undefined
        ? "Give a folder with episodes/ or evaluation.json in it."
        : `It is a folder of runs: name one of them, as ${below}.`,
    fields: { folder },
  });
}

/** One of these files by its name, without listing all. */
export const episodePath = (folder: string, name: string): string =>
  isEvaluation(folder) ? episodesFile(folder) : join(folder, "episodes", name);

/** Of the episodes in one of these files. */
export function episodeOrigin(path: string): Pick<RecordedEpisode, "step" | "phase"> {
  const match = filePattern.exec(basename(path));
  if (match === null) return { step: 0, phase: "evaluation" };
  return { step: Number(match[2]), phase: match[1] === undefined ? "train" : "validation" };
}

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

const restored = (episode: Episode): Episode => ({
  ...episode,
  trajectories: episode.trajectories.map((trajectory) =>
    Object.assign({}, trajectory, { steps: trajectory.steps.map(restoreStep) }),
  ),
});

function refuse(at: string): never {
  throw new ConfigError({
    message: `${at} is not a recorded episode.`,
    hint: "Remove the line; the other episodes can be used without it.",
    fields: { at },
  });
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

/** @throws ConfigError with the file and line of what is not an episode, unless `onDamaged` is given. */
export function* recordedEpisodes(
  folder: string,
  { files = episodeFiles(folder), onDamaged = refuse }: ReadOptions = {},
): Generator<RecordedEpisode> {
  let number = 0;
  for (const file of files) {
    const origin = episodeOrigin(file);
    for (const line of file.endsWith(".gz") ? packedLines(file) : readLines(file)) {
      if (line.text.trim() === "") continue;
      const episode = parseEpisode(line.text);
      if (episode === null) onDamaged(`${file}:${line.number}`);
      else yield { episode: restored(episode), number: ++number, ...origin };
    }
  }
}

/** The episodes alone. @throws ConfigError with the file and line of what is not an episode. */
export function* readEpisodes(folder: string, files?: readonly string[]): Generator<Episode> {
  for (const { episode } of recordedEpisodes(folder, files === undefined ? {} : { files }))
    yield episode;
}

/** Whether `wanted` names an episode: its id, or its number. */
export const isNamed = ({ episode, number }: RecordedEpisode, wanted: string): boolean =>
  episode.id === wanted || String(number) === wanted;

/** @param ids of the episodes that are there */
export function noSuchEpisode(folder: string, wanted: string, ids: readonly string[]): ConfigError {
  const nearest = nearestName(wanted, ids);
  return new ConfigError({
    message: `${folder} has no episode ${JSON.stringify(wanted)}; it has ${ids.length}.`,
    hint:
      nearest === undefined
        ? `To list them, run: agent-trainer show ${folder}`
        : `Did you mean ${nearest}?`,
    fields: { folder, wanted },
  });
}
