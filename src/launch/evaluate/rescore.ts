/** Scores recorded episodes again, with another evaluator and without a model call. */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { loadConfig } from "../../config/load.ts";
import type { Evaluator } from "../../core/agent.ts";
import { ConfigError } from "../../core/errors.ts";
import { isOverflowed } from "../../core/outcome.ts";
import type { Episode } from "../../core/trajectory.ts";
import { requireCallable } from "../../rollouts/programs/callable.ts";
import { defaultRolloutLimits } from "../../rollouts/rollout-request.ts";
import type { FlowResult } from "../../rollouts/programs/program.ts";
import { beforeScoring } from "../../rollouts/scoring/reported.ts";
import { addScore, type ScorePolicy } from "../../rollouts/scoring/score.ts";
import { mapConcurrent } from "../../util/concurrency.ts";
import { defined } from "../../util/defined.ts";
import {
  openEvaluationFolder,
  readEvaluation,
  isEvaluation,
} from "../../runs/evaluations/evaluation-folder.ts";
import { type EvaluationItem, itemOf } from "../../runs/evaluations/evaluation-item.ts";
import { readEpisodes } from "../../runs/evaluations/recorded-episodes.ts";
import {
  type EvaluationSummary,
  type SummaryFacts,
  summarize,
} from "../../runs/evaluations/summary.ts";

/** What {@link rescore} reads, and with what it scores. */
export interface RescoreOptions<Metadata = Record<string, unknown>> {
  /** Folder of a run or of an evaluation. */
  readonly episodes: string;
  /** The new evaluator. */
  readonly evaluator: Evaluator<Metadata>;
  /** Evaluators running at the same time. @default 64 */
  readonly concurrency?: number;
  /** Limit in milliseconds for one episode. @default 60_000 */
  readonly timeoutMs?: number;
  /** Folder to record the new scores in, as an evaluation. @default nothing is written */
  readonly folder?: string;
  /** Aborting it rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** A score before and after. */
export interface Verdict {
  readonly reward: number | null;
  readonly isCorrect: boolean | null;
}

/** The result of {@link rescore}. */
export interface RescoreResult {
  /** Where the new scores were recorded; null where nothing was written. */
  readonly folder: string | null;
  readonly before: EvaluationSummary;
  readonly summary: EvaluationSummary;
  /** What could not be reproduced, as sentences. */
  readonly warnings: readonly string[];
  /** With the new scores, in the order in which the episodes were recorded. */
  readonly items: readonly EvaluationItem[];
  /** Episodes whose reward or correctness is another one. */
  readonly changed: readonly {
    readonly id: string;
    readonly attempt: number;
    readonly episodeId: string;
    readonly before: Verdict;
    readonly after: Verdict;
  }[];
}

interface Facts extends Omit<SummaryFacts, "status" | "planned" | "n"> {
  readonly solvedReward: number | null;
}

function factsOf(folder: string): Facts {
  if (isEvaluation(folder)) {
    const { model, seed, failureReward, solvedReward } = readEvaluation(folder).settings;
    return { model, seed, failureReward, solvedReward };
  }
  const file = join(folder, "config.resolved.yaml");
  if (!existsSync(file)) {
    return { model: basename(folder), seed: 0, failureReward: 0, solvedReward: null };
  }
  const { rollout, trainer } = loadConfig({ file }).config;
  const { failureReward, solvedReward } = rollout;
  return { model: folder, seed: trainer.seed, failureReward, solvedReward };
}

/** The agent failed, or was cut off: there is nothing to evaluate. */
const hasNoResult = (episode: Episode): boolean => {
  const { terminationReason, error } = episode;
  if (terminationReason === "evaluator_error" || isOverflowed(episode)) return false;
  return error !== undefined || terminationReason === "error" || terminationReason === "aborted";
};

/** Of a record without what the agent reported: as far as it is known, the episode before its evaluation. */
function withoutScore({ error, ...episode }: Episode): Episode {
  const { terminationReason, metrics, trajectories } = episode;
  return {
    ...episode,
    ...(isOverflowed(episode) ? defined({ error }) : {}),
    reward: null,
    isCorrect: null,
    terminationReason: terminationReason === "evaluator_error" ? "completed" : terminationReason,
    trajectories: trajectories.map((trajectory) =>
      Object.assign({}, trajectory, { reward: null, signals: {} }),
    ),
    metrics: Object.fromEntries(
      Object.entries(metrics).filter(
        ([name]) => !name.startsWith("signal/") && name !== "time/evaluator_s",
      ),
    ),
  };
}

/** What it was scored with besides the evaluator. */
function resultOf({ output, reported }: Episode): FlowResult {
  const reward = reported?.reward ?? null;
  const own = reward === null ? {} : { evaluation: { reward, isCorrect: null } };
  return { reports: [], output, ...own };
}

function* batches<T>(values: Iterable<T>, size: number): Generator<T[]> {
  let batch: T[] = [];
  for (const value of values) {
    batch.push(value);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

const lackWarning = (count: number, all: number): string =>
  `${count} of ${all} episodes were recorded without what the agent reported (by an earlier version, or imported): an evaluator that reads rewards or signals of trajectories or steps, or metadata, may score them differently than it did.`;

/** Episodes in memory at a time. */
const batchSize = 256;

/**
 * Scores the episodes of a run or an evaluation again, without a model call. Attempts that failed before
 * they were evaluated stay failed.
 *
 * @throws ConfigError when there are no recorded episodes, or a line is not one.
 *
 * @example
 * const { changed, summary } = await rescore({
 *   episodes: "evals/shop",
 *   evaluator: (task, episode) => String(episode.output).trim() === task.metadata.answer,
 * });
 */
export async function rescore<Metadata = Record<string, unknown>>(
  options: RescoreOptions<Metadata>,
): Promise<RescoreResult> {
  const { episodes: source, concurrency = 64, folder = null } = options;
  const { timeoutMs: limitMs = defaultRolloutLimits.evaluatorTimeoutMs } = options;
  const signal = options.signal ?? new AbortController().signal;
  requireCallable("evaluator", options.evaluator, "evaluate");
  // Recorded tasks are those of this evaluator.
  const evaluator = options.evaluator as Evaluator;
  const { solvedReward, ...facts } = factsOf(source);
  const { failureReward } = facts;
  const policy: ScorePolicy = { source: "evaluator", solvedReward };
  let withoutReported = 0;
  const score = async (episode: Episode, own: AbortSignal): Promise<Episode> => {
    if (hasNoResult(episode)) return episode;
    const before = beforeScoring(episode);
    if (before === null) withoutReported++;
    const { task } = episode;
    const result = resultOf(episode);
    const how = { policy, failureReward, limitMs, signal: own, emit: () => {} };
    const scoring = { evaluator, result, task, ...how };
    return await addScore(before ?? withoutScore(episode), scoring);
  };
  const before: EvaluationItem[] = [];
  const after: EvaluationItem[] = [];
  const settings = { ...facts, solvedReward, n: 0, sampling: {}, tasks: 0, dataHash: "" };
  using record =
    folder === null
      ? { add: () => {}, summarize: () => {}, discard: () => {}, [Symbol.dispose]: () => {} }
      : openEvaluationFolder(folder, settings, false);
  try {
    for (const batch of batches(readEpisodes(source), batchSize)) {
      const scored = await mapConcurrent(
        batch,
        concurrency,
        (episode, _index, own) => score(episode, own),
        signal,
      );
      for (const [i, episode] of scored.entries()) {
        const item = itemOf(episode, 0);
        before.push(itemOf(batch[i] as Episode, 0));
        after.push(item);
        record.add(item, episode);
      }
    }
    if (after.length === 0) {
      throw new ConfigError({
        message: `There are no episodes in ${source}.`,
        hint: "Let the run or the evaluation complete an attempt first.",
        fields: { folder: source },
      });
    }
  } catch (error) {
    record.discard();
    throw error;
  }
  const n = after.reduce((most, { attempt }) => Math.max(most, attempt), 1);
  const all = { ...facts, n, planned: after.length, status: "completed" } as const;
  const summary = summarize(after, all);
  record.summarize(summary);
  const verdict = ({ reward, isCorrect }: EvaluationItem): Verdict => ({ reward, isCorrect });
  return {
    folder,
    warnings: withoutReported === 0 ? [] : [lackWarning(withoutReported, after.length)],
    before: summarize(before, all),
    summary,
    items: after,
    changed: after.flatMap((item, i) => {
      const earlier = before[i] as EvaluationItem;
      if (earlier.reward === item.reward && earlier.isCorrect === item.isCorrect) return [];
      const { id, attempt, episodeId } = item;
      return [{ id, attempt, episodeId, before: verdict(earlier), after: verdict(item) }];
    }),
  };
}
