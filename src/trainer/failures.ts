/** Decides when failed rollouts are no longer an accident. */
import { AgentTrainerError } from "../core/errors.ts";
import type { Episode } from "../core/trajectory.ts";
import { isFailed } from "./episode-metrics.ts";

/** @throws AgentTrainerError TOO_MANY_FAILURES with the last rollout's error as its cause. */
export function checkFailures(episodes: readonly Episode[], maxShare: number, where: string): void {
  const failed = episodes.filter(isFailed);
  if (failed.length <= episodes.length * maxShare) return;
  const last = failed.findLast((episode) => episode.error !== undefined);
  const cause = last?.error === undefined ? undefined : revive(last.error);
  const reason = cause === undefined ? "" : ` The last error: ${cause.name}: ${cause.message}`;
  const taskIds = [...new Set(failed.map((episode) => episode.task.id))];
  throw new AgentTrainerError({
    code: "TOO_MANY_FAILURES",
    message: `${failed.length} of ${episodes.length} rollouts of ${where} failed, more than trainer.max_failed_share=${maxShare} allows.${reason}`,
    hint: "Run the agent and the evaluator on one task by hand; task ids and stacks are in the run folder under episodes/.",
    cause,
    fields: { failed: failed.length, rollouts: episodes.length, maxShare, taskIds },
  });
}

function revive(error: NonNullable<Episode["error"]>): Error {
  const revived = new Error(error.message);
  revived.name = error.name;
  if (error.stack !== undefined) revived.stack = error.stack;
  return revived;
}
