/** Scores the rollouts of a task together, where the run has a group evaluator, before advantages are computed. */
import type { UnstampedEvent } from "../../core/events.ts";
import type { Task } from "../../core/task.ts";
import type { Episode } from "../../core/trajectory.ts";
import { scoreTogether } from "../../rollouts/scoring/evaluate-group.ts";
import type { LoopContext } from "../loop-context.ts";

type GroupContext = Pick<LoopContext, "config" | "groupEvaluator">;

/** All rollouts of `task` in a batch; without a group evaluator they stay as they are. */
export async function scoreGroup(
  { config, groupEvaluator: evaluator }: GroupContext,
  task: Task,
  episodes: readonly Episode[],
  signal: AbortSignal,
  onEvent: (event: UnstampedEvent) => void,
): Promise<readonly Episode[]> {
  if (evaluator === undefined) return episodes;
  const scored = await scoreTogether(task, episodes, {
    evaluator,
    solvedReward: config.rollout.solvedReward,
    limitMs: Math.ceil(config.workflow.evaluatorTimeoutS * 1000),
    signal,
  });
  const failed = scored.find((episode, i) => {
    return episode.terminationReason === "evaluator_error" && episode !== episodes[i];
  });
  if (failed?.error !== undefined) {
    const { name, message } = failed.error;
    const error = { name, message };
    onEvent({ type: "evaluator-error", episodeId: failed.id, taskId: task.id, error });
  }
  return scored;
}
