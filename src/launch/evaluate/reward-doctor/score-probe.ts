/** Scores one probe: its reward, or how the evaluator failed on it. */
import type { Evaluator } from "../../../core/agent.ts";
import { AgentTrainerError } from "../../../core/errors.ts";
import type { Task } from "../../../core/task.ts";
import type { Episode } from "../../../core/trajectory.ts";
import { evaluateEpisode } from "../../../rollouts/scoring/evaluate.ts";
import type { RewardCase } from "./report.ts";

export interface Scoring {
  readonly evaluator: Evaluator;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface Scored extends RewardCase {
  readonly failure: "throws" | "no_score" | "times_out" | null;
  readonly ms: number;
}

const shownCharacters = 500;

function failureOf(error: unknown): Exclude<Scored["failure"], null> {
  if (!AgentTrainerError.isInstance(error)) return "throws";
  if (error.cause === undefined) return "no_score";
  const isLate = AgentTrainerError.isInstance(error.cause) && error.cause.code === "TIMEOUT";
  return isLate ? "times_out" : "throws";
}

/** Never rejects, but with the reason of the signal. */
export async function scoreProbe(
  { evaluator, timeoutMs, signal }: Scoring,
  probe: string,
  text: string,
  episode: Episode,
): Promise<Scored> {
  const { task } = episode as { readonly task: Task };
  const base = {
    taskId: task.id,
    probe,
    output: text.slice(0, shownCharacters),
    length: text.length,
  };
  const start = performance.now();
  try {
    const { reward, isCorrect } = await evaluateEpisode(
      evaluator,
      task,
      episode,
      timeoutMs,
      signal,
    );
    return { ...base, reward, isCorrect, failure: null, ms: performance.now() - start };
  } catch (error) {
    signal.throwIfAborted();
    const message = error instanceof Error ? error.message : String(error);
    const failed = { reward: null, isCorrect: null, error: message, failure: failureOf(error) };
    return { ...base, ...failed, ms: performance.now() - start };
  }
}
