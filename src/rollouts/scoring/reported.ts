/** Keeps what an evaluator sees of an episode, which its score replaces, and brings it back to score it again. */
import { isOverflowed } from "../../core/outcome.ts";
import type { Episode, ReportedScores, Trajectory } from "../../core/trajectory.ts";
import { defined } from "../../util/defined.ts";

/** @param reward the program's own score of the whole. */
export function withReported(episode: Episode, reward: number | null): Episode {
  if (episode.reported !== undefined) return episode;
  const { terminationReason, trajectories, metrics, metadata } = episode;
  const reported: ReportedScores = {
    reward,
    terminationReason,
    trajectories: trajectories.map((trajectory) => ({
      reward: trajectory.reward,
      signals: trajectory.signals,
      steps: trajectory.steps.map((step) => step.reward ?? null),
    })),
    metrics,
    metadata,
  };
  return { ...episode, reported };
}

/** The episode as its evaluator saw it; null for one that was recorded without what it needs. */
export function beforeScoring(scored: Episode): Episode | null {
  const { error, reported, ...episode } = scored;
  if (reported === undefined) return null;
  const { reward: _reward, trajectories, ...before } = reported;
  const restored = (trajectory: Trajectory, index: number): Trajectory => {
    const { reward = null, signals = {}, steps = [] } = trajectories[index] ?? {};
    return {
      ...trajectory,
      reward,
      signals,
      steps: trajectory.steps.map(({ reward: _own, ...step }, at) => ({
        ...step,
        ...defined({ reward: steps[at] ?? undefined }),
      })),
    };
  };
  const all = episode.trajectories.map(restored);
  // A prompt that did not fit ended the rollout before its evaluation; other errors are of that.
  const earlier = defined({ error: isOverflowed(scored) ? error : undefined });
  return { ...episode, ...before, ...earlier, reward: null, isCorrect: null, trajectories: all };
}
