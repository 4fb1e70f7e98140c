/**
 * The log of a run inside its folder: `events.jsonl`, `metrics.jsonl`, `episodes/` and `tokens/`. Every line
 * or file has its step, so the log can be truncated to a checkpoint.
 */
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import type { TrainerEvent } from "../core/events.ts";
import { isFailed } from "../core/outcome.ts";
import type { TokenRecord } from "../core/token-record.ts";
import type { Episode } from "../core/trajectory.ts";
import { cutExchanges } from "./exchange-log.ts";
import { appendLines, cutLines } from "./json-lines.ts";
import { keptPart } from "./kept-part.ts";
import {
  type Compression,
  isIncomplete,
  planFile,
  planLine,
  planPlain,
  recordEnding,
} from "./record-lines.ts";
import { RecordWriter } from "./record-writer.ts";

export type Phase = "train" | "validation";

export interface RunLog {
  event(event: TrainerEvent): void;
  /** One line: `{ step, phase, ...metrics }`. */
  metrics(step: number, phase: Phase, metrics: Readonly<Record<string, number>>): void;
  /** Replaces the file of the step and phase; large ones are complete after `flush`. */
  episodes(step: number, phase: Phase, episodes: readonly Episode[]): void;
  /** Replaces the file of the step; large ones are complete after `flush`. */
  tokens(step: number, records: readonly TokenRecord[]): void;
  /** Waits for episodes and tokens. @throws AgentTrainerError FILE_FAILED */
  flush(): Promise<void>;
  sync(): void;
  close(): void;
}

/** `000042`: names that sort as numbers do. */
export function stepName(step: number): string {
  return String(step).padStart(6, "0");
}

const episodeFile = (step: number, phase: Phase): string =>
  `${phase === "train" ? "" : "val-"}${stepName(step)}`;

/** A name of `episodes/` or `tokens/`, with its step. */
const stepFile = /^(?:val-)?(\d+)\.jsonl(?:\.gz)?$/u;

/** Folder of the numbers of single tokens (`record.token_rows`); absent where none were recorded. */
export function tokenFolder(run: string): string {
  return join(run, "tokens");
}

/** Numbers in an episode, about: what its text takes time for. */
function numbersOf({ trajectories }: Episode): number {
  let sum = 0;
  for (const { steps } of trajectories)
    for (const { trace } of steps) {
      // The text of a message takes as long as some tens of numbers.
      sum += trace.promptIds.length + trace.responseIds.length + 50 * trace.messages.length;
    }
  return sum;
}

export interface RunLogOptions {
  /** Training episodes of a step to keep, in addition to those that failed; -1 keeps all. */
  readonly episodes: number;
  /** Of the run. */
  readonly seed: number;
  /** Of the files of episodes and tokens. @default "none" */
  readonly compression?: Compression;
}

/** Opens the log of a run folder for appending. */
export function openRunLog(
  folder: string,
  { episodes: limit, seed, compression = "none" }: RunLogOptions,
): RunLog {
  const episodeFolder = join(folder, "episodes");
  mkdirSync(episodeFolder, { recursive: true });
  const events = appendLines(join(folder, "events.jsonl"));
  const metrics = appendLines(join(folder, "metrics.jsonl"));
  const records = new RecordWriter();
  const ending = recordEnding(compression);
  return {
    event(event) {
      if (event.type === "validation-end") {
        const { episodes, ...rest } = event;
        events.write({ ...rest, episodeCount: episodes.length });
      } else if (event.type === "rollout-end") {
        const { episode: _, ...rest } = event;
        events.write(rest);
      } else {
        events.write(event);
      }
    },
    metrics(step, phase, values) {
      metrics.write({ step, phase, ...values });
    },
    episodes(step, phase, list) {
      const kept = new Set(
        keptPart(list, {
          taskOf: ({ task }) => task.id,
          limit: phase === "train" ? limit : -1,
          seed,
          step,
        }),
      );
      const written = list.filter((episode) => kept.has(episode) || isFailed(episode));
      const path = join(episodeFolder, `${episodeFile(step, phase)}${ending}`);
      const numbers = written.reduce((sum, episode) => sum + numbersOf(episode), 0);
      records.write(planFile(path, compression, written.map(planLine)), numbers);
    },
    tokens(step, list) {
      mkdirSync(tokenFolder(folder), { recursive: true });
      const path = join(tokenFolder(folder), `${stepName(step)}${ending}`);
      const numbers = list.reduce((sum, { logprobs }) => sum + 5 * logprobs.length, 0);
      records.write(planFile(path, compression, list.map(planPlain)), numbers);
    },
    flush() {
      return records.flush();
    },
    sync() {
      events.sync();
      metrics.sync();
    },
    close() {
      try {
        records.close();
      } finally {
        try {
          events.close();
        } finally {
          metrics.close();
        }
      }
    },
  };
}

/**
 * Removes everything after `step`; -1 removes all. Returns warnings about lines that cannot be
 * parsed: they are kept in a file next to the log.
 */
export function cutRunLog(folder: string, step: number): readonly string[] {
  const keep = ({ step: at }: Record<string, unknown>): boolean | null =>
    Number.isSafeInteger(at) ? Number(at) <= step : null;
  const warnings = ["events.jsonl", "metrics.jsonl"].flatMap((name) =>
    cutLines(join(folder, name), keep).map(
      ({ line, temporary }) =>
        `${join(folder, name)}:${line} is damaged: it was moved to ${basename(temporary)}, and its content is missing from the run log.`,
    ),
  );
  for (const records of [join(folder, "episodes"), tokenFolder(folder)]) {
    for (const name of existsSync(records) ? readdirSync(records) : []) {
      const number = stepFile.exec(name)?.[1];
      if (isIncomplete(name) || (number !== undefined && Number(number) > step))
        rmSync(join(records, name));
    }
  }
  cutExchanges(folder, step);
  return warnings;
}
