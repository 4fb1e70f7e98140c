/** The rollouts of one task: what is requested, and the scores that they get together. */
import { scoreTogether } from "../../rollouts/scoring/evaluate-group.ts";
import type { UnstampedEvent } from "../../core/events.ts";
import type { Task } from "../../core/task.ts";
import type { Episode } from "../../core/trajectory.ts";
import type { RolloutRequest } from "../../rollouts/rollout-request.ts";
import { deriveSeed } from "../../util/random.ts";
import type { RolloutContext } from "../run-context.ts";

/** Key of a group of rollouts: a task in its `number`-th batch or place. */
export const rolloutsKey = (number: number, task: Task): string => `${number}/${task.id}`;

/** `rollout.n` rollouts of a task; seeds depend on `number` and the task alone. */
export function requestsOf(
  { config }: Pick<RolloutContext, "config">,
  number: number,
  task: Task,
): RolloutRequest[] {
  const { rollout, trainer } = config;
  return Array.from({ length: rollout.n }, (_, rolloutIndex) => ({
    task,
    rolloutIndex,
    episodeId: `${rolloutsKey(number, task)}/${rolloutIndex}`,
    seed: deriveSeed(trainer.seed, "rollout", number, task.id, rolloutIndex),
  }));
}

/** The rollouts of a task, scored by the group evaluator; without one they stay as they are. */
export async function scoreGroup(
  { config, groupEvaluator: evaluator }: Pick<RolloutContext, "config" | "groupEvaluator">,
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
