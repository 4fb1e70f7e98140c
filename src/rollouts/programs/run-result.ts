/** The result of a program that scores itself: a reward, or trajectories that have one each. */
import { AgentTrainerError } from "../../core/errors.ts";
import type { TrajectoryReport } from "../../core/report.ts";
import type { EvalOutput } from "../../core/trajectory.ts";
import { coerceEvaluation } from "./coerce-evaluation.ts";
import { readFlowResult } from "./flow-result.ts";
import type { FlowResult } from "./program.ts";

/**
 * A number, a boolean, a pair or `{ reward, isCorrect }` scores all calls, as an evaluator's result
 * would.
 * @throws AgentTrainerError when it is not a score, or a trajectory has no reward.
 */
export function readRunResult(returned: unknown, taskId: string): FlowResult {
  const result = readFlowResult(returned);
  if (result.reports.length === 0) {
    return { ...result, evaluation: coerceEvaluation(returned, taskId, "agentRunFunc") };
  }
  const unscored = result.reports.find(
    ({ reward, train }) => reward === undefined && train !== false,
  );
  if (unscored !== undefined) {
    throw new AgentTrainerError({
      code: "ROLLOUT_FAILED",
      message: `agentRunFunc returned the trajectory "${unscored.name}" without a reward.`,
      hint: "Give each trajectory a reward, or train: false.",
      fields: { name: unscored.name },
    });
  }
  return { ...result, evaluation: evaluationOf(result.reports, isCorrectOf(returned)) };
}

const isCorrectOf = (returned: unknown): boolean | undefined => {
  const { isCorrect } = returned as { readonly isCorrect?: unknown };
  return typeof isCorrect === "boolean" ? isCorrect : undefined;
};

/** The mean reward of the trajectories that are trained. */
export function evaluationOf(
  reports: readonly Pick<TrajectoryReport, "reward" | "train">[],
  isCorrect?: boolean,
): EvalOutput {
  const rewards = reports.flatMap(({ reward, train }) =>
    reward === undefined || train === false ? [] : [reward],
  );
  const reward =
    rewards.length === 0 ? 0 : rewards.reduce((sum, one) => sum + one, 0) / rewards.length;
  return { reward, isCorrect: isCorrect ?? null };
}
