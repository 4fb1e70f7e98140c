/** Runs the attempts of an evaluation, some at a time, and hands over each as it ends. */
import { AgentTrainerError } from "../../core/errors.ts";
import { isFault } from "../../core/outcome.ts";
import type { Episode } from "../../core/trajectory.ts";
import type { RolloutRequest } from "../../rollouts/rollout-request.ts";
import type { RunRollouts } from "../../rollouts/service/run-rollouts.ts";
import { mapConcurrent } from "../../util/concurrency.ts";

export interface AttemptPlan {
  readonly requests: readonly RolloutRequest[];
  readonly run: RunRollouts;
  readonly concurrency: number;
  readonly signal: AbortSignal;
  readonly onEpisode: (episode: Episode, wallMs: number) => void;
  readonly onWarning: (message: string) => void;
}

/** Failures one after the other, without a model call or a score, that mean that nothing works. */
const mostInARow = 8;

function stopped(failures: number, { error, task }: Episode): AgentTrainerError {
  const reason =
    error === undefined
      ? ""
      : ` The last error, on task ${JSON.stringify(task.id)}: ${error.name}: ${error.message}`;
  return new AgentTrainerError({
    code: "TOO_MANY_FAILURES",
    message: `The evaluation was stopped: the last ${failures === 1 ? "attempt" : `${failures} attempts`} failed without a model response or a score.${reason}`,
    hint:
      error?.hint ??
      "Check that the endpoint responds, and run the agent and the evaluator on one task.",
    fields: { failures, taskId: task.id, error },
  });
}

/**
 * @throws AgentTrainerError TOO_MANY_FAILURES when attempts keep failing, as with an endpoint that is down;
 * the reason of `signal` when that aborts. What had ended before was handed over.
 */
export async function runAttempts(plan: AttemptPlan): Promise<void> {
  const { requests, run, concurrency, signal, onEpisode, onWarning } = plan;
  const most = Math.min(mostInARow, requests.length);
  let inARow = 0;
  await mapConcurrent(
    requests,
    concurrency,
    async (request, _index, own) => {
      const start = performance.now();
      const [episode] = await run([request], {
        isValidation: true,
        signal: own,
        onEvent: (event) => {
          if (event.type === "warning") onWarning(event.message);
        },
      });
      own.throwIfAborted();
      if (episode === undefined) return;
      onEpisode(episode, performance.now() - start);
      inARow = isFault(episode) ? inARow + 1 : 0;
      if (inARow >= most) throw stopped(inARow, episode);
    },
    signal,
  );
}
