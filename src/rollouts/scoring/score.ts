/** The score of an episode: the evaluator's, or the program's own. */
import type { Evaluator } from "../../core/agent.ts";
import { AgentTrainerError } from "../../core/errors.ts";
import type { RolloutEvent } from "../../core/events.ts";
import type { Task } from "../../core/task.ts";
import type { Episode, EvalOutput } from "../../core/trajectory.ts";
import { scoreOverflow } from "../episode.ts";
import { errorFacts } from "../failures/error-facts.ts";
import { evaluateEpisode, scoreEpisode, withoutRewards } from "./evaluate.ts";
import { defined } from "../../util/defined.ts";
import type { FlowResult } from "../programs/program.ts";
import { withReported } from "./reported.ts";

export interface ScorePolicy {
  /** Which reward trains when a program scores itself and there is an evaluator, too. */
  readonly source: "evaluator" | "rollout";
  /** Minimum reward of a correct rollout when the score is a plain number; null = see `judgeNumber`. */
  readonly solvedReward: number | null;
  /** What nothing scores now is scored with the other rollouts of its task. @default false */
  readonly isScoredLater?: boolean;
}

export const defaultScorePolicy: ScorePolicy = { source: "evaluator", solvedReward: null };

export interface Scoring<Metadata> {
  readonly evaluator: Evaluator<Metadata> | null;
  readonly result: FlowResult;
  readonly task: Task<Metadata>;
  readonly policy: ScorePolicy;
  /** Of a rollout that ended without output because a prompt did not fit, where nothing scores that. */
  readonly failureReward: number;
  readonly limitMs: number;
  readonly signal: AbortSignal;
  readonly emit: (event: RolloutEvent) => void;
}

/** Rejects only with the reason of the signal; a scoring error is part of the episode. */
export async function addScore<Metadata>(
  unscored: Episode,
  scoring: Scoring<Metadata>,
): Promise<Episode> {
  const own = scoring.result.evaluation?.reward ?? null;
  const { reported } = withReported(unscored, own);
  return { ...(await score(unscored, scoring)), ...defined({ reported }) };
}

async function score<Metadata>(unscored: Episode, scoring: Scoring<Metadata>): Promise<Episode> {
  const { evaluator, result, task, policy, limitMs, signal, emit } = scoring;
  try {
    if (evaluator === null && result.evaluation === undefined && policy.isScoredLater === true) {
      return unscored;
    }
    if (evaluator === null) return withCorrectness(scoreItself(unscored, result), policy);
    const startedAt = performance.now();
    const evaluation = await evaluateEpisode(evaluator, task, unscored, limitMs, signal);
    const seconds = (performance.now() - startedAt) / 1000;
    const metrics = { ...unscored.metrics, "time/evaluator_s": seconds };
    const timed = { ...unscored, metrics };
    if (result.evaluation === undefined)
      return withCorrectness(scoreEpisode(timed, evaluation), policy);
    return policy.source === "evaluator"
      ? withCorrectness(overrule(timed, evaluation, result.evaluation.reward), policy)
      : keepOwn(timed, evaluation, result, policy);
  } catch (thrown) {
    signal.throwIfAborted();
    // The evaluator had nothing to score: what ended the rollout is the error, not what it made of that.
    const { terminationReason, output } = unscored;
    if (terminationReason === "max_prompt_length_exceeded" && output === undefined)
      return scoreOverflow(unscored, scoring.failureReward);
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

/** Derives correctness from the reward where it was not given. */
function withCorrectness(episode: Episode, { solvedReward }: ScorePolicy): Episode {
  const { isCorrect, reward } = episode;
  if (isCorrect !== null || reward === null) return episode;
  return { ...episode, isCorrect: judgeNumber(reward, solvedReward) };
}

/** Rewards of its trajectories are kept; a reward for the whole goes to all of them. */
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
    // What no report covers has no reward, and is excluded from training for that reason.
    trajectories: scored.trajectories.map((trajectory, index) =>
      Object.assign({}, trajectory, { reward: trajectories[index]?.reward ?? null }),
    ),
  };
}

/** Replaces the program's own reward by the evaluator's; the former stays as a metric of the episode. */
function overrule(episode: Episode, evaluation: EvalOutput, own: number): Episode {
  const metrics = { ...episode.metrics, rollout_reward: own };
  return scoreEpisode({ ...withoutRewards(episode), metrics }, evaluation);
}

/** Keeps the program's own rewards, with everything else that the evaluator returned. */
function keepOwn(
  episode: Episode,
  evaluation: EvalOutput,
  result: FlowResult,
  policy: ScorePolicy,
): Episode {
  const metrics = { ...episode.metrics, evaluator_reward: evaluation.reward };
  // A reward of null stays null here: only reports set it.
  const own = scoreItself({ ...episode, metrics }, result);
  const theirs = withCorrectness(scoreEpisode(own, evaluation), policy);
  return {
    ...theirs,
    reward: own.reward,
    trajectories: theirs.trajectories.map((trajectory, index) =>
      Object.assign({}, trajectory, { reward: own.trajectories[index]?.reward ?? null }),
    ),
  };
}

/**
 * Whether a reward that is a plain number means correct or incorrect: by the threshold, if there is
 * one. Without one, at least 1 is correct and at most 0 is incorrect, as for `true` and `false`;
 * anything between is partly correct, hence null.
 */
function judgeNumber(reward: number, solvedReward: number | null): boolean | null {
  if (solvedReward !== null) return reward >= solvedReward;
  if (reward >= 1) return true;
  return reward <= 0 ? false : null;
}
