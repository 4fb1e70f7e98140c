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
  /** It failed by not answering in time. */
  readonly isLate: boolean;
}

const shownCharacters = 500;

const isTimeout = (error: unknown): boolean =>
  AgentTrainerError.isInstance(error) &&
  AgentTrainerError.isInstance(error.cause) &&
  error.cause.code === "TIMEOUT";

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
  try {
    const { reward, isCorrect } = await evaluateEpisode(
      evaluator,
      task,
      episode,
      timeoutMs,
      signal,
    );
    return { ...base, reward, isCorrect, isLate: false };
  } catch (error) {
    signal.throwIfAborted();
    const message = error instanceof Error ? error.message : String(error);
    return { ...base, reward: null, isCorrect: null, error: message, isLate: isTimeout(error) };
  }
}
