/** The gate over recorded evaluations, with its regression set: what the candidate newly solves may join it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../core/errors.ts";
import { isEvaluation } from "./evaluation-folder.ts";
import { gateEvaluations } from "./gate.ts";
import type { GateReport } from "./gate-report.ts";
import type { GateRule } from "./gate-rule.ts";
import { readEpisodes } from "./recorded-episodes.ts";
import { addRegressions, readRegressions } from "./regression-set.ts";

/** Folders of evaluations; that of a regression set is the folder `regressions` in each. */
export interface GateFolders {
  readonly current: string;
  readonly candidate: string;
  /** JSONL file of tasks that must stay solved. @default none */
  readonly regressions?: string;
  /** Adds held-out tasks that a better candidate newly solves to the regression set. @default false */
  readonly grow?: boolean;
}

/** The result of a gate, and how many tasks joined the regression set. */
export interface GateResult extends GateReport {
  readonly grown: number;
}

/** Where the evaluation of the regression set is. */
export const regressionFolder = (evaluation: string): string => join(evaluation, "regressions");

function regressionPair({ current, candidate }: GateFolders, ids: readonly string[]) {
  const pair = { current: regressionFolder(current), candidate: regressionFolder(candidate), ids };
  const missing = [pair.current, pair.candidate].find((folder) => !isEvaluation(folder));
  if (missing === undefined) return pair;
  throw new ConfigError({
    message: `The regression set has ${ids.length} tasks, but ${missing} holds no evaluation of them.`,
    hint: `Evaluate them: agent-trainer eval CONFIG --model MODEL --dataset FILE --output ${missing}`,
    fields: { path: missing },
  });
}

/** @throws ConfigError for `grow` without a file, or a folder without an evaluation. */
export function gateFolders(folders: GateFolders, rule: GateRule = {}): GateResult {
  const { current, candidate, regressions, grow = false } = folders;
  if (grow && regressions === undefined) {
    throw new ConfigError({
      message: "The gate is to add tasks to a regression set, but none is named.",
      hint: "Add --regressions FILE (in code: regressions); it is created where it does not exist.",
      fields: { option: "grow" },
    });
  }
  if (regressions !== undefined && !grow && !existsSync(regressions)) {
    throw new ConfigError({
      message: `The regression set ${regressions} does not exist.`,
      hint: "Create it with --grow (in code: grow), which adds what a better candidate newly solves.",
      fields: { path: regressions },
    });
  }
  const ids = regressions === undefined ? [] : readRegressions(regressions).map(({ id }) => id);
  const report = gateEvaluations(
    {
      current,
      candidate,
      ...(ids.length === 0 ? {} : { regressions: regressionPair(folders, ids) }),
    },
    rule,
  );
  if (!grow || regressions === undefined || report.verdict !== "better") {
    return { ...report, grown: 0 };
  }
  const gained = new Set(report.gained);
  const tasks = [...readEpisodes(candidate)].flatMap(({ task }) =>
    gained.has(task.id) ? [task] : [],
  );
  return { ...report, grown: addRegressions(regressions, tasks) };
}
