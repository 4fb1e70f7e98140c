/** Decides when a run has too many failed rollouts to continue. */
import { AgentTrainerError } from "../../core/errors.ts";
import { isCutOff, isFault } from "../../core/outcome.ts";
import type { Episode } from "../../core/trajectory.ts";

/**
 * @param rollouts number requested, if some of them never began. @default all of `episodes`
 * @throws AgentTrainerError TOO_MANY_FAILURES with the last rollout's error as its cause.
 */
export function checkFailures(
  episodes: readonly Episode[],
  maxFraction: number,
  where: string,
  rollouts: number = episodes.length,
): void {
  const failed = episodes.filter(isFault);
  if (failed.length <= rollouts * maxFraction) return;
  const last = failed.findLast((episode) => episode.error !== undefined);
  const cause = last?.error === undefined ? undefined : revive(last.error);
  const reason = cause === undefined ? "" : ` The last error: ${cause.name}: ${cause.message}`;
  const taskIds = [...new Set(failed.map((episode) => episode.task.id))];
  const cutOff = rollouts - episodes.length + episodes.filter(isCutOff).length;
  const rest = cutOff === 0 ? "" : ` ${cutOff} others were cut off as a result.`;
  throw new AgentTrainerError({
    code: "TOO_MANY_FAILURES",
    message: `${failed.length} of ${rollouts} rollouts of ${where} failed, more than trainer.max_failed_fraction=${maxFraction} allows.${rest}${reason}`,
    hint: `${last?.error?.hint === undefined ? "" : `${last.error.hint} `}Run the agent and the evaluator on one task by hand; task ids and stacks are in the run folder under episodes/.`,
    cause,
    fields: { failed: failed.length, cutOff, rollouts, maxFraction, taskIds },
  });
}

function revive(error: NonNullable<Episode["error"]>): Error {
  const revived = new Error(error.message);
  revived.name = error.name;
  if (error.stack !== undefined) revived.stack = error.stack;
  return revived;
}
