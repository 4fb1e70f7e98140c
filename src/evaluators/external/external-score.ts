/** The score that an evaluation library returned, as that of an evaluator. */
import type { Task } from "../../core/task.ts";
import type { EvalOutput } from "../../core/trajectory.ts";
import { evaluatorError, note } from "../scorer.ts";

/** A number or a truth value, as it is or as `score`; and why, where it says so. */
interface Returned {
  readonly score?: unknown;
  /** `openevals` and `agentevals`. */
  readonly comment?: unknown;
  /** Mastra. */
  readonly reason?: unknown;
}

/** @throws AgentTrainerError EVALUATOR_FAILED for what has no finite score. */
export function externalScore(
  result: unknown,
  task: Pick<Task, "id">,
  passScore: number,
): EvalOutput {
  const returned = (
    typeof result === "object" && result !== null ? result : { score: result }
  ) as Returned;
  const { score } = returned;
  const reward = typeof score === "boolean" ? Number(score) : score;
  if (typeof reward !== "number" || !Number.isFinite(reward)) {
    throw evaluatorError(
      `The scorer gave ${(JSON.stringify(result) ?? "nothing").slice(0, 200)} for task "${task.id}", which has no finite score.`,
      "Return a number, or an object with a number as `score`.",
      { taskId: task.id },
    );
  }
  const why = returned.comment ?? returned.reason;
  return {
    reward,
    isCorrect: reward >= passScore,
    ...(typeof why === "string" && why !== "" ? { metadata: { reason: note(why) } } : {}),
  };
}
