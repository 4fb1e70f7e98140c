/** From the store to the rows of a round; what was curated before a kill is taken as it is. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ImproveConfig } from "../../config/improve/improve-config.ts";
import { namingFile } from "../../core/file-error.ts";
import { curate, type CurateOptions } from "../../production/curate/curate.ts";
import type { CurateReport } from "../../production/curate/report.ts";
import type { CurateStage, Round } from "../../runs/rounds/round.ts";
import { defined } from "../../util/defined.ts";
import { loadScrub } from "../load-scrub.ts";
import { curatedFolder, readBy } from "./round-configs.ts";

/** The first record of feedback that no round has taken; what an abandoned one took is free again. */
export function firstNewFeedback(rounds: readonly Round[]): number {
  const taken = rounds.flatMap(({ status, curate: done }) =>
    done === undefined || status === "abandoned" ? [] : [done.feedback.to],
  );
  return Math.max(0, ...taken);
}

/** A folder appears only when all of it is written. */
function reportOf(output: string): CurateReport | null {
  const path = join(output, "report.json");
  if (!existsSync(path)) return null;
  return JSON.parse(namingFile({ path }, () => readFileSync(path, "utf8"))) as CurateReport;
}

export interface CurateStageOptions extends Pick<CurateOptions, "reportHtml"> {
  readonly config: ImproveConfig;
  readonly round: number;
  /** Records of feedback that earlier rounds have taken. */
  readonly skip: number;
  readonly signal: AbortSignal;
}

export async function curateStage(options: CurateStageOptions): Promise<CurateStage> {
  const { config, round, skip, signal, reportHtml } = options;
  const { feedback, split, valFraction, outcome, unrated, scrub, minRows } = config.curate;
  const output = curatedFolder(config.folder, round);
  const from = feedback === "new" ? skip : 0;
  const hook = scrub === null ? undefined : await loadScrub(scrub, ".", "curate.scrub");
  const report =
    reportOf(output) ??
    (await curate({
      folder: config.collect.store,
      output,
      splitBy: split,
      valFraction,
      unrated,
      skipFeedback: from,
      ...defined({ outcome: outcome ?? undefined, scrub: hook, reportHtml }),
      signal,
    }));
  const rows = report.rows[readBy[config.train.with]];
  const { records, good, bad, corrections } = report.feedback;
  const { conversations, turns } = report;
  return {
    ...{ conversations, turns, good, bad, corrections, rows },
    // Too few rows are left for the next round.
    feedback: { from, to: rows.train < minRows ? skip : from + records },
  };
}
