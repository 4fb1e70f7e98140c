/** One attempt at one task of an evaluation, as a line of `results.jsonl`. Plain data. */
import type { Task } from "../../core/task.ts";
import type { Episode, TerminationReason } from "../../core/trajectory.ts";
import { dataSource } from "../episode-metrics.ts";

/** How one attempt at one task came out. */
export interface EvaluationItem {
  /** Id of the task. */
  readonly id: string;
  /** From 1 to `n`. */
  readonly attempt: number;
  /** Unique in the evaluation, and the id of the recorded episode. */
  readonly episodeId: string;
  /** `metadata.data_source` of the task; null where it has none. */
  readonly dataSource: string | null;
  /** null = no score: the attempt failed because of a server or the evaluator. */
  readonly reward: number | null;
  /** null = not reported. */
  readonly isCorrect: boolean | null;
  /** Numbers that the evaluator returned in addition to the reward, by name. */
  readonly signals: Readonly<Record<string, number>>;
  /** What the agent returned, where that was a plain value. */
  readonly output?: unknown;
  readonly terminationReason: TerminationReason;
  /** What went wrong, where something did. */
  readonly error?: { readonly name: string; readonly message: string; readonly code?: string };
  /** Model calls and their tokens; as an endpoint counts them where it returns no token ids. */
  readonly usage: {
    readonly calls: number;
    readonly promptTokens: number;
    readonly responseTokens: number;
  };
  /** Milliseconds that the agent took. */
  readonly latencyMs: number;
  /** All numbers of the episode, as in a run's metrics. */
  readonly metrics: Readonly<Record<string, number>>;
}

const signalPrefix = "signal/";

/** @param wallMs what the attempt took, for one that failed before its duration was measured. */
export function itemOf(episode: Episode, wallMs: number): EvaluationItem {
  const { id, task, rolloutIndex, metrics, error, output } = episode;
  const flowS = metrics["time/flow_s"];
  return {
    id: task.id,
    attempt: rolloutIndex + 1,
    episodeId: id,
    dataSource: dataSource(episode),
    reward: episode.reward,
    isCorrect: episode.isCorrect,
    signals: Object.fromEntries(
      Object.entries(metrics).flatMap(([name, value]) =>
        name.startsWith(signalPrefix) ? [[name.slice(signalPrefix.length), value]] : [],
      ),
    ),
    ...(output === undefined ? {} : { output }),
    terminationReason: episode.terminationReason,
    ...(error === undefined
      ? {}
      : {
          error: {
            name: error.name,
            message: error.message,
            ...(error.code === undefined ? {} : { code: error.code }),
          },
        }),
    usage: {
      calls: metrics["turns"] ?? 0,
      promptTokens: metrics["tokens/prompt"] ?? 0,
      responseTokens: metrics["tokens/response"] ?? 0,
    },
    latencyMs: Math.round(flowS === undefined ? wallMs : flowS * 1000),
    metrics,
  };
}

/** The episode without what was said in it: enough for every metric. */
export function episodeOf(item: EvaluationItem): Episode {
  const { dataSource: source, error } = item;
  const task: Task = {
    id: item.id,
    instruction: "",
    metadata: source === null ? {} : { data_source: source },
  };
  return {
    id: item.episodeId,
    task,
    rolloutIndex: item.attempt - 1,
    trajectories: [],
    output: item.output,
    isCorrect: item.isCorrect,
    reward: item.reward,
    terminationReason: item.terminationReason,
    metrics: item.metrics,
    metadata: {},
    attempts: 1,
    ...(error === undefined ? {} : { error: { name: error.name, message: error.message } }),
  };
}

/** Failed because of a server or the setup: nothing was scored, so resuming runs it. */
export const isUnmeasured = ({ reward, terminationReason }: EvaluationItem): boolean =>
  reward === null && terminationReason !== "evaluator_error";

/** What identifies an attempt in an evaluation. */
export const itemKey = ({ id, attempt }: Pick<EvaluationItem, "id" | "attempt">): string =>
  `${attempt}/${id}`;
