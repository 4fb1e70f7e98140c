/** Two runs against each other on the tasks that both have, with the intervals of `agent-trainer compare`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { compareEvaluations, verdictOf } from "../runs/evaluations/compare.ts";
import type { EvaluationItem } from "../runs/evaluations/evaluation-item.ts";
import type { TerminationReason } from "../core/trajectory.ts";
import { optionDifferences } from "../runs/compare-runs.ts";
import { parseYaml } from "../util/yaml-text.ts";
import type { EpisodePhase, EpisodeRow } from "./api/episodes.ts";
import type { RunsCompared } from "./api/comparisons.ts";
import { lastStepOf, rowsOfPhase } from "./index/query.ts";
import type { RunIndex } from "./index/run-index.ts";

/** Episodes of one side; more would take seconds. */
const maxEpisodes = 50_000;
/** Steps of training that are compared where there are no validations. */
const trainedSteps = 5;
/** Tasks that are listed. */
const maxChanged = 100;

/** A run to compare. */
export interface ComparedRun {
  readonly folder: string;
  readonly index: RunIndex;
}

interface Side {
  readonly label: string;
  readonly rows: readonly EpisodeRow[];
}

function sideOf({ index }: ComparedRun, phase: EpisodePhase): Side {
  const last = lastStepOf(index.db, phase) ?? 0;
  const fromStep = phase === "train" ? Math.max(1, last - trainedSteps + 1) : last;
  const rows = rowsOfPhase(index.db, phase, { fromStep, limit: maxEpisodes });
  const labels: Readonly<Record<EpisodePhase, string>> = {
    validation: `validation after step ${last}`,
    evaluation: "evaluation",
    train: `training in steps ${fromStep} to ${last}`,
  };
  return { label: labels[phase], rows };
}

/** Held-out results where both have some, else training of both. */
function sidesOf(a: ComparedRun, b: ComparedRun): readonly [Side, Side] {
  const measured = ({ index }: ComparedRun): EpisodePhase | undefined =>
    (["evaluation", "validation"] as const).find((phase) => lastStepOf(index.db, phase) !== null);
  const [phaseA, phaseB] = [measured(a), measured(b)];
  return phaseA === undefined || phaseB === undefined
    ? [sideOf(a, "train"), sideOf(b, "train")]
    : [sideOf(a, phaseA), sideOf(b, phaseB)];
}

/** As far as `compareEvaluations` reads it. */
function itemOfRow(row: EpisodeRow): EvaluationItem {
  return {
    id: row.task,
    attempt: row.rollout + 1,
    episodeId: row.id,
    dataSource: null,
    reward: row.reward,
    isCorrect: row.correct,
    signals: {},
    terminationReason: row.ended as TerminationReason,
    ...(row.error === null ? {} : { error: { name: "Error", message: row.error } }),
    usage: { calls: row.calls, promptTokens: row.promptTokens, responseTokens: row.responseTokens },
    latencyMs: Math.round(row.seconds * 1000),
    metrics: {},
  };
}

/** What a failed rollout counts with; 0, the option's default, where the folder does not say. */
function failureRewardOf({ folder }: ComparedRun): number {
  for (const [file, keys] of [
    ["config.resolved.yaml", ["rollout", "failure_reward"]],
    ["evaluation.json", ["failureReward"]],
  ] as const) {
    try {
      const value = keys.reduce<unknown>(
        (tree, key) => (tree as Record<string, unknown> | undefined)?.[key],
        parseYaml(readFileSync(join(folder, file), "utf8")),
      );
      if (typeof value === "number") return value;
    } catch {
      // The other file says it, or none.
    }
  }
  return 0;
}

/** `b` against `a`. Never throws for lack of data. */
export function compareInView(a: ComparedRun, b: ComparedRun): RunsCompared {
  const [one, other] = sidesOf(a, b);
  const options = optionDifferences(a.folder, b.folder);
  const common = new Set(one.rows.map(({ task }) => task));
  const nothing = { tasks: 0, reward: null, pass: null, verdict: null, changed: [] };
  const labels = { a: one.label, b: other.label, options };
  if (!other.rows.some(({ task }) => common.has(task))) return { ...labels, ...nothing };
  const side = ({ rows }: Side, run: ComparedRun) => ({
    items: rows.map(itemOfRow),
    summary: { failureReward: failureRewardOf(run) },
  });
  const { tasks, reward, pass, changed } = compareEvaluations(side(one, a), side(other, b));
  const episodeOf = ({ rows }: Side, task: string): number | null =>
    rows.findLast((row) => row.task === task)?.n ?? null;
  return {
    ...labels,
    tasks,
    reward,
    pass,
    verdict: verdictOf(reward ?? pass),
    changed: changed.slice(0, maxChanged).map(({ id, a: first, b: second }) => ({
      task: id,
      a: first.reward,
      b: second.reward,
      episodeA: episodeOf(one, id),
      episodeB: episodeOf(other, id),
    })),
  };
}
