/**
 * The log of a run inside its folder: `events.jsonl`, `metrics.jsonl`, `episodes/` and `tokens/`. Every line
 * or file has its step, so the log can be truncated to a checkpoint.
 */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { namingFile } from "../../core/file-error.ts";
import type { TrainerEvent } from "../../core/events.ts";
import { isFailed } from "../../core/outcome.ts";
import type { TokenRecord } from "../../core/token-record.ts";
import type { Episode } from "../../core/trajectory.ts";
import { appendLines, cutLines, toLine } from "./json-lines.ts";
import { keptPart } from "./kept-part.ts";

export type Phase = "train" | "validation";

export interface RunLog {
  event(event: TrainerEvent): void;
  /** One line: `{ step, phase, ...metrics }`. */
  metrics(step: number, phase: Phase, metrics: Readonly<Record<string, number>>): void;
  episodes(step: number, phase: Phase, episodes: readonly Episode[]): void;
  /** Replaces the file of the step. */
  tokens(step: number, records: readonly TokenRecord[]): void;
  sync(): void;
  close(): void;
}

/** `000042`: names that sort as numbers do. */
export function stepName(step: number): string {
  return String(step).padStart(6, "0");
}

const episodeFile = (step: number, phase: Phase): string =>
  `${phase === "train" ? "" : "val-"}${stepName(step)}.jsonl`;

/** Folder of the numbers of single tokens (`record.token_rows`); absent where none were recorded. */
export function tokenFolder(run: string): string {
  return join(run, "tokens");
}

function writeLines(path: string, values: readonly object[]): void {
  namingFile({ path }, () => {
    const file = openSync(path, "w");
    try {
      for (const value of values) writeFileSync(file, toLine(value));
    } finally {
      closeSync(file);
    }
  });
}

export interface RunLogOptions {
  /** Training episodes of a step to keep, in addition to those that failed; -1 keeps all. */
  readonly episodes: number;
  /** Of the run. */
  readonly seed: number;
}

/** Opens the log of a run folder for appending. */
export function openRunLog(folder: string, { episodes: limit, seed }: RunLogOptions): RunLog {
  const episodeFolder = join(folder, "episodes");
  mkdirSync(episodeFolder, { recursive: true });
  const events = appendLines(join(folder, "events.jsonl"));
  const metrics = appendLines(join(folder, "metrics.jsonl"));
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
      writeLines(join(episodeFolder, episodeFile(step, phase)), written);
    },
    tokens(step, records) {
      mkdirSync(tokenFolder(folder), { recursive: true });
      writeLines(join(tokenFolder(folder), `${stepName(step)}.jsonl`), records);
    },
    sync() {
      events.sync();
      metrics.sync();
    },
    close() {
      try {
        events.close();
      } finally {
        metrics.close();
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
  const episodeFolder = join(folder, "episodes");
  mkdirSync(episodeFolder, { recursive: true });
  for (const name of readdirSync(episodeFolder)) {
    const number = /^(?:val-)?(\d+)\.jsonl$/u.exec(name)?.[1];
    if (number !== undefined && Number(number) > step) rmSync(join(episodeFolder, name));
  }
  const tokens = tokenFolder(folder);
  for (const name of existsSync(tokens) ? readdirSync(tokens) : []) {
    const number = /^(\d+)\.jsonl$/u.exec(name)?.[1];
    if (number !== undefined && Number(number) > step) rmSync(join(tokens, name));
  }
  return warnings;
}
