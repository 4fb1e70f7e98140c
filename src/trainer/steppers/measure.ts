/**
 * A step without an update: rollouts of validation tasks, with the same seeds each time. A validation of a
 * run reports their metrics; an evaluation hands over each attempt as it ends, so that it can be resumed.
 */
import type { TrainConfig } from "../../config/train-config.ts";
import { AgentTrainerError } from "../../core/errors.ts";
import { isFault } from "../../core/outcome.ts";
import type { Task } from "../../core/task.ts";
import type { Episode } from "../../core/trajectory.ts";
import type { RolloutRequest } from "../../rollouts/rollout-request.ts";
import { checkFailures } from "../../rollouts/service/failures.ts";
import type { RunRollouts } from "../../rollouts/service/gateway-service.ts";
import { validationMetrics } from "../../runs/validation-metrics.ts";
import { mapConcurrent } from "../../util/concurrency.ts";
import { deriveSeed } from "../../util/random.ts";
import type { RolloutContext } from "../run-context.ts";
import type { Validation } from "./stepper.ts";

/** `rollout.nVal` rollouts of each task; seeds depend on the task alone. `name`: first part of their ids. */
export function validationRequests(
  { rollout, trainer }: Pick<TrainConfig, "rollout" | "trainer">,
  tasks: readonly Task[],
  name: string,
): RolloutRequest[] {
  return tasks.flatMap((task) =>
    Array.from({ length: rollout.nVal }, (_, rolloutIndex) => ({
      task,
      rolloutIndex,
      episodeId: `${name}/${task.id}/${rolloutIndex}`,
      seed: deriveSeed(trainer.seed, "val", task.id, rolloutIndex),
    })),
  );
}

/** What a validation needs of a run. */
export type MeasuredRun = Pick<
  RolloutContext,
  "config" | "emit" | "journal" | "rollouts" | "signal" | "valTasks"
>;

/** Validates the weights after step `step`. @throws AgentTrainerError TOO_MANY_FAILURES */
export async function validate(run: MeasuredRun, step: number): Promise<Validation> {
  const { config, emit, journal, signal } = run;
  const requests = validationRequests(config, run.valTasks, `val-${step}`);
  const { valBatchSize } = config.data;
  const chunk = valBatchSize === -1 ? requests.length : valBatchSize * config.rollout.nVal;
  const episodes: Episode[] = [];
  const maxFailed = requests.length * config.trainer.maxFailedFraction;
  let failed = 0;
  for (let from = 0; from < requests.length && failed <= maxFailed; from += chunk) {
    const done = await run.rollouts(requests.slice(from, from + chunk), {
      isValidation: true,
      signal,
      maxFailures: maxFailed - failed,
      onEvent: (event) => emit(step, event),
    });
    signal.throwIfAborted();
    episodes.push(...done);
    failed += done.filter(isFault).length;
  }
  journal.episodes(step, "validation", episodes);
  await journal.flush();
  const where = `the validation after step ${step}`;
  checkFailures(episodes, config.trainer.maxFailedFraction, where, requests.length);
  const { nVal, failureReward } = config.rollout;
  return { metrics: validationMetrics(episodes, nVal, failureReward), episodes };
}

/** The attempts of an evaluation. */
export interface AttemptPlan {
  readonly requests: readonly RolloutRequest[];
  readonly run: RunRollouts;
  readonly concurrency: number;
  readonly signal: AbortSignal;
  readonly onEpisode: (episode: Episode, wallMs: number) => void;
  readonly onWarning: (message: string) => void;
}

/** Failures one after the other, without a model call or a score, that mean that nothing works. */
const maxInARow = 8;

function keepsFailing(failures: number, { error, task }: Episode): AgentTrainerError {
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
 * Runs attempts, some at a time, and hands over each as it ends.
 * @throws AgentTrainerError TOO_MANY_FAILURES when attempts keep failing, as with an endpoint that is down;
 * the reason of `signal` when that aborts. What had ended before was handed over.
 */
export async function measureAttempts(plan: AttemptPlan): Promise<void> {
  const { requests, run, concurrency, signal, onEpisode, onWarning } = plan;
  const max = Math.min(maxInARow, requests.length);
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
      if (inARow >= max) throw keepsFailing(inARow, episode);
    },
    signal,
  );
}
