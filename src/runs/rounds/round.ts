/**
 * The record of a round of improvement, `round.json` in its folder: what each stage found, once it is done. The
 * folder is that of the run that the round trains, too.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../core/errors.ts";
import { namingFile } from "../../core/file-error.ts";
import { writeFileAtomicSync } from "../../util/files/atomic-write.ts";
import type { GateMiss, GateReport } from "../evaluations/gate-report.ts";

/** A model, and its exact weights by name; null where the model is no checkpoint. */
export interface RoundModel {
  readonly model: string;
  readonly version: string | null;
}

/** What was added to the store from files. */
export interface CollectStage {
  readonly files: number;
  readonly spans: number;
  readonly feedback: number;
}

/** What was made of the store. */
export interface CurateStage {
  readonly conversations: number;
  readonly turns: number;
  readonly good: number;
  readonly bad: number;
  readonly corrections: number;
  /** Rows that are trained on, and those of held-out users. */
  readonly rows: { readonly train: number; readonly val: number };
  /** The records of feedback that it took: from the first number, up to the second. */
  readonly feedback: { readonly from: number; readonly to: number };
}

export interface TrainStage {
  readonly with: string;
  readonly steps: number;
  readonly candidate: RoundModel;
}

export interface GateStage {
  readonly verdict: GateReport["verdict"];
  readonly misses: readonly GateMiss[];
  readonly tasks: number;
  /** Mean reward, or pass@1 where nothing has a reward; null where neither is known. */
  readonly difference: {
    readonly current: number;
    readonly candidate: number;
    readonly difference: number;
    /** null for so few tasks that they allow no interval. */
    readonly low: number | null;
    readonly high: number | null;
  } | null;
  /** Ids of held-out tasks that the candidate newly solves. */
  readonly gained: readonly string[];
}

export interface HandOverStage {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Tasks that joined the regression set. */
  readonly regressions: number;
}

export type RoundStatus = "running" | "handed over" | "refused" | "too little" | "abandoned";

export interface Round {
  readonly round: number;
  readonly status: RoundStatus;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** What the file said when it began. */
  readonly options: unknown;
  readonly store: string;
  readonly inUse: RoundModel;
  /** Each is absent until it is done. */
  readonly collect?: CollectStage;
  readonly curate?: CurateStage;
  readonly train?: TrainStage;
  readonly gate?: GateStage;
  readonly handOver?: HandOverStage;
}

const format = "agent-trainer/round/1";
const fileName = "round.json";
const name = /^round-(\d{6,})$/u;

/** `round-000001` */
export const roundName = (round: number): string => `round-${String(round).padStart(6, "0")}`;

export const roundFolder = (folder: string, round: number): string =>
  join(folder, roundName(round));

/** @throws ConfigError for a file that is not of this format. */
function readRound(path: string): Round {
  const text = namingFile({ path }, () => readFileSync(path, "utf8"));
  try {
    const { format: found, ...round } = JSON.parse(text) as Round & { format?: unknown };
    if (found === format) return round;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new ConfigError({
    message: `${path} is no record of a round: it is not of the format "${format}".`,
    hint: "Restore it, or move the folder of the round away.",
    fields: { path },
  });
}

/** Oldest first; none where there is no such folder. */
export function readRounds(folder: string): readonly Round[] {
  if (!existsSync(folder)) return [];
  return namingFile({ path: folder }, () => readdirSync(folder))
    .filter((entry) => name.test(entry) && existsSync(join(folder, entry, fileName)))
    .map((entry) => readRound(join(folder, entry, fileName)))
    .toSorted((a, b) => a.round - b.round);
}

/** Creates or replaces the record, in a folder that exists. */
export function writeRound(folder: string, round: Round): void {
  const path = join(roundFolder(folder, round.round), fileName);
  const text = `${JSON.stringify({ format, ...round }, null, 2)}\n`;
  namingFile({ path }, () => writeFileAtomicSync(path, text));
}
