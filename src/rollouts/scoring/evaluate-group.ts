/** Calls what scores the rollouts of a task together, within its deadline, and writes its results into them. */
import type { GroupEvaluator } from "../../core/agent.ts";
import { AgentTrainerError } from "../../core/errors.ts";
import { startDeadline } from "../../core/deadline.ts";
import { isCutOff, isFailed } from "../../core/outcome.ts";
import type { Task } from "../../core/task.ts";
import type { Episode, EvalOutput } from "../../core/trajectory.ts";
import { copyPlain } from "../../util/copy-plain.ts";
import { describeValue, errorFacts } from "../failures/error-facts.ts";
import { raceUserCode } from "../failures/stray-errors.ts";
import { coerceEvaluation } from "../programs/coerce-evaluation.ts";
import { whyUnrecordable } from "../programs/recordable.ts";
import { withoutRewards, scoreEpisode } from "./evaluate.ts";
import { withReported } from "./reported.ts";

export interface GroupScoring {
  readonly evaluator: GroupEvaluator;
  /** @see ScorePolicy.solvedReward */
  readonly solvedReward: number | null;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

const who = "The group evaluator";

/** What failed or was cut off has nothing that could be compared. */
const isComparable = (episode: Episode): boolean => !isFailed(episode) && !isCutOff(episode);

/** One result per episode. @throws AgentTrainerError (`EVALUATOR_FAILED`), or the signal's reason. */
async function evaluate(
  task: Task,
  episodes: readonly Episode[],
  { evaluator, limitMs, signal }: GroupScoring,
): Promise<readonly EvalOutput[]> {
  const deadline = startDeadline(who, limitMs, signal);
  const fail = (what: string, cause?: unknown): AgentTrainerError =>
    new AgentTrainerError({
      code: "EVALUATOR_FAILED",
      message: `${who} ${what}`,
      ...(cause === undefined ? {} : { cause }),
      fields: { taskId: task.id, rollouts: episodes.length },
    });
  let returned: unknown;
  try {
    const how = { signal: deadline.signal };
    // An async function, so that an error of a synchronous evaluator is a rejection, too.
    const request = async (): Promise<unknown> => await evaluator(copyPlain(task), episodes, how);
    returned = await raceUserCode(request, deadline);
  } catch (error) {
    signal.throwIfAborted();
    const { name, message } = errorFacts(error);
    throw fail(`failed on task "${task.id}": ${name}: ${message}`, error);
  } finally {
    deadline.dispose();
  }
  if (!Array.isArray(returned) || returned.length !== episodes.length) {
    const found = Array.isArray(returned) ? `${returned.length} results` : describeValue(returned);
    throw fail(`returned ${found} for ${episodes.length} rollouts of task "${task.id}".`);
  }
  return (returned as readonly unknown[]).map((each) => {
    const evaluation = coerceEvaluation(each, task.id, who);
    const why = whyUnrecordable(evaluation.metadata);
    if (why === null) return evaluation;
    throw fail(`returned ${why} in the metadata for task "${task.id}".`);
  });
}

/** Whether a rollout is correct is not said by a relative score; what an evaluator said of it stays. */
function correctness(
  { isCorrect, reward }: EvalOutput,
  before: boolean | null,
  solvedReward: number | null,
): boolean | null {
  return isCorrect ?? (solvedReward === null ? before : reward >= solvedReward);
}

function scored(
  episode: Episode,
  evaluation: EvalOutput,
  seconds: number,
  solvedReward: number | null,
): Episode {
  const { reward, metrics } = episode;
  const own = {
    ...withoutRewards(withReported(episode, null)),
    metrics: {
      ...metrics,
      "time/group_evaluator_s": seconds,
      ...(reward === null ? {} : { evaluator_reward: reward }),
    },
  };
  const isCorrect = correctness(evaluation, episode.isCorrect, solvedReward);
  return scoreEpisode(own, { ...evaluation, isCorrect });
}

/**
 * The rollouts of a task with their scores relative to each other, in place of those that they had. Those
 * that failed keep their reward and are not compared. Where the evaluator fails, so do all that it compared:
 * they have no score, and its error.
 * @throws only the signal's reason.
 */
export async function scoreTogether(
  task: Task,
  episodes: readonly Episode[],
  scoring: GroupScoring,
): Promise<readonly Episode[]> {
  const compared = episodes.filter(isComparable);
  if (compared.length === 0) return episodes;
  const startedAt = performance.now();
  let results: Map<Episode, EvalOutput>;
  try {
    const evaluations = await evaluate(task, compared, scoring);
    results = new Map(compared.map((episode, i) => [episode, evaluations[i] as EvalOutput]));
  } catch (thrown) {
    scoring.signal.throwIfAborted();
    const error = errorFacts(thrown);
    return episodes.map((episode) =>
      isComparable(episode)
        ? {
            ...withoutRewards(withReported(episode, null)),
            reward: null,
            terminationReason: "evaluator_error",
            error,
          }
        : episode,
    );
  }
  const seconds = (performance.now() - startedAt) / 1000;
  return episodes.map((episode) => {
    const evaluation = results.get(episode);
    if (evaluation === undefined) return episode;
    return scored(episode, evaluation, seconds, scoring.solvedReward);
  });
}
