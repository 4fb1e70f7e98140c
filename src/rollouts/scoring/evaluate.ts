/** Calls the user's evaluator, within its deadline, and writes its result into an episode. */
import type { Evaluator } from "../../core/agent.ts";
import { AgentTrainerError } from "../../core/errors.ts";
import type { Task } from "../../core/task.ts";
import type { Episode, EvalOutput } from "../../core/trajectory.ts";
import { copyPlain } from "../../util/copy-plain.ts";
import { coerceEvaluation } from "../programs/coerce-evaluation.ts";
import { startDeadline } from "../../core/deadline.ts";
import { errorFacts } from "../failures/error-facts.ts";
import { whyUnrecordable } from "../programs/recordable.ts";
import { raceUserCode } from "../failures/stray-errors.ts";

/**
 * @throws AgentTrainerError (`EVALUATOR_FAILED`) when it throws, exceeds its deadline, or does not
 * return a score; the reason of `signal` when that aborts.
 */
export async function evaluateEpisode<Metadata>(
  evaluator: Evaluator<Metadata>,
  task: Task<Metadata>,
  episode: Episode,
  limitMs: number,
  signal: AbortSignal,
): Promise<EvalOutput> {
  const deadline = startDeadline("The evaluator", limitMs, signal);
  // An async function, so that an error of a synchronous evaluator is a rejection, too.
  const request = async (): Promise<unknown> => {
    // The original task, whatever the agent did to its own copy; and copied again for the same
    // reason.
    const own = copyPlain(task);
    const seen = { ...episode, task: own as unknown as Task };
    return await (typeof evaluator === "function"
      ? evaluator(own, seen)
      : evaluator.evaluate(own, seen));
  };
  let returned: unknown;
  try {
    returned = await raceUserCode(request, deadline);
  } catch (error) {
    signal.throwIfAborted();
    const { name, message } = errorFacts(error);
    throw new AgentTrainerError({
      code: "EVALUATOR_FAILED",
      message: `The evaluator failed on task "${task.id}": ${name}: ${message}`,
      cause: error,
      fields: { taskId: task.id },
    });
  } finally {
    deadline.dispose();
  }
  const evaluation = coerceEvaluation(returned, task.id);
  const why = whyUnrecordable(evaluation.metadata);
  if (why === null) return evaluation;
  throw new AgentTrainerError({
    code: "EVALUATOR_FAILED",
    message: `The evaluator returned ${why} in the metadata for task "${task.id}", which cannot be written to the run folder.`,
    hint: "Return plain data: strings, numbers, arrays and objects without cycles.",
    fields: { taskId: task.id },
  });
}

/** The episode before another score takes the place of the rewards that its program reported. */
export function withoutRewards(episode: Episode): Episode {
  return {
    ...episode,
    trajectories: episode.trajectories.map((trajectory) =>
      Object.assign({}, trajectory, {
        reward: null,
        steps: trajectory.steps.map(({ reward: _reward, ...step }) => step),
      }),
    ),
  };
}

/**
 * The episode with its score: the reward goes to every trajectory that has none, the signals to all
 * of them, and each signal becomes the metric `signal/{name}`.
 */
export function scoreEpisode(episode: Episode, evaluation: EvalOutput): Episode {
  const { reward, isCorrect, signals = [], metadata = {} } = evaluation;
  const byName = Object.fromEntries(signals.map(({ name, value }) => [name, value]));
  const metrics = Object.fromEntries(signals.map(({ name, value }) => [`signal/${name}`, value]));
  return {
    ...episode,
    reward,
    isCorrect,
    trajectories: episode.trajectories.map((trajectory) =>
      Object.assign({}, trajectory, {
        reward: trajectory.reward ?? reward,
        signals: { ...trajectory.signals, ...byName },
      }),
    ),
    metrics: { ...episode.metrics, ...metrics },
    metadata: { ...episode.metadata, ...metadata },
  };
}
