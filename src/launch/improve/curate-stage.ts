/** From the store to the rows of a round; what was curated before a kill is taken as it is. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ImproveConfig } from "../../config/improve/improve-config.ts";
import { namingFile } from "../../core/file-error.ts";
import { curate } from "../../production/curate/curate.ts";
import type { CurateReport } from "../../production/curate/report.ts";
import type { CurateStage, Round } from "../../runs/rounds/round.ts";
import { defined } from "../../util/defined.ts";
import { loadScrub } from "../load-scrub.ts";
import { curatedFolder, readBy } from "./round-configs.ts";

/** Records of feedback that no round has used: all from a number on, and some before it. */
export interface NewFeedback {
  readonly from: number;
  /** What was about no turn when it was read: its trace may have come since. */
  readonly waiting: readonly number[];
}

/** What an abandoned round took is free again. */
export function newFeedback(rounds: readonly Round[]): NewFeedback {
  const last = rounds.findLast(
    ({ status, curate: done }) => done !== undefined && status !== "abandoned",
  )?.curate?.feedback;
  return { from: last?.to ?? 0, waiting: last?.waiting ?? [] };
}

/** A folder appears only when all of it is written. */
function reportOf(output: string): CurateReport | null {
  const path = join(output, "report.json");
  if (!existsSync(path)) return null;
  return JSON.parse(namingFile({ path }, () => readFileSync(path, "utf8"))) as CurateReport;
}

export interface CurateStageOptions {
  readonly config: ImproveConfig;
  readonly round: number;
  readonly unused: NewFeedback;
  readonly signal: AbortSignal;
}

export async function curateStage(options: CurateStageOptions): Promise<CurateStage> {
  const { config, round, unused, signal } = options;
  const { feedback, split, valFraction, outcome, rating, unrated, scrub, minRows } = config.curate;
  const output = curatedFolder(config.folder, round);
  const from = feedback === "new" ? unused.from : 0;
  const waiting = new Set(unused.waiting);
  const hook = scrub === null ? undefined : await loadScrub(scrub, ".", "curate.scrub");
  const report =
    reportOf(output) ??
    (await curate({
      folder: config.collect.store,
      output,
      splitBy: split,
      valFraction,
      unrated,
      takesFeedback: (number) => number >= from || waiting.has(number),
      ...defined({ outcome: outcome ?? undefined, rating: rating ?? undefined, scrub: hook }),
      signal,
    }));
  const rows = report.rows[readBy[config.train.with]];
  const { records, good, bad, corrections } = report.feedback;
  const { conversations, turns, dropped } = report;
  const waited = unused.waiting.filter((number) => number < from).length;
  const taken = { from, to: from + records - waited, waiting: report.feedback.unused };
  return {
    ...{ conversations, turns, good, bad, corrections, dropped, rows },
    // Too few rows are left for the next round.
    feedback: rows.train < minRows ? { ...unused, to: unused.from } : taken,
  };
}
