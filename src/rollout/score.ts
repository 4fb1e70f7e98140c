/** The score of an episode: the evaluator's, or the one that its program gave itself. */
import type { Evaluator } from "../core/agent.ts";
import { AgentTrainerError } from "../core/errors.ts";
import type { Task } from "../core/task.ts";
import type { Episode } from "../core/trajectory.ts";
import { errorFacts } from "./error-facts.ts";
import { evaluateEpisode, scoreEpisode } from "./evaluate.ts";
import type { FlowResult } from "./program.ts";
import type { RolloutEvent } from "./rollout-event.ts";

export interface Scoring<Metadata> {
  readonly evaluator: Evaluator<Metadata> | null;
  readonly result: FlowResult;
  readonly task: Task<Metadata>;
  readonly limitMs: number;
  readonly signal: AbortSignal;
  readonly emit: (event: RolloutEvent) => void;
}

/** Rejects only with the reason of the signal; a score that cannot be had is part of the episode. */
export async function addScore<Metadata>(
  unscored: Episode,
  scoring: Scoring<Metadata>,
): Promise<Episode> {
  const { evaluator, result, task, limitMs, signal, emit } = scoring;
  try {
    if (evaluator === null) return scoreItself(unscored, result);
    const startedAt = performance.now();
    const evaluation = await evaluateEpisode(evaluator, task, unscored, limitMs, signal);
    const seconds = (performance.now() - startedAt) / 1000;
    const metrics = { ...unscored.metrics, "time/evaluator_s": seconds };
    return scoreEpisode({ ...unscored, metrics }, evaluation);
  } catch (thrown) {
    signal.throwIfAborted();
    const error = errorFacts(thrown);
    const { name, message } = error;
    emit({
      type: "evaluator-error",
      episodeId: unscored.id,
      taskId: task.id,
      error: { name, message },
    });
    return { ...unscored, terminationReason: "evaluator_error", error };
  }
}

/** Rewards of its trajectories stand; a reward for the whole goes to all of them. */
function scoreItself(episode: Episode, { evaluation, reports }: FlowResult): Episode {
  if (evaluation === undefined) {
    throw new AgentTrainerError({
      code: "EVALUATOR_FAILED",
      message: `Nothing scored task "${episode.task.id}": there is no evaluator, and the rollout gave no reward.`,
      hint: "Pass an evaluator, return one from hooks.setUp, or give rewards in the workflow.",
      fields: { taskId: episode.task.id },
    });
  }
  const scored = scoreEpisode(episode, evaluation);
  if (reports.length === 0) return scored;
  const { trajectories } = episode;
  return {
    ...scored,
    // What no report speaks of has no reward, and is left out of training for that.
    trajectories: scored.trajectories.map((trajectory, index) =>
      Object.assign({}, trajectory, { reward: trajectories[index]?.reward ?? null }),
    ),
  };
}
