/** Warnings about options that have no effect, or an unexpected one, with the agent interface in use. */
import type { TrainConfig } from "../../config/train-config.ts";
import type { Rollouts } from "./agent-spec.ts";

type Way = Pick<Rollouts<never>, "evaluator" | "hooks" | "program">;

/** Sentences for warning events. */
export function wayNotices(config: TrainConfig, { program, evaluator, hooks }: Way): string[] {
  const { algorithm, rollout, stepwiseAdvantage } = config;
  const { scoresItself = false, limitsTurns = false, what } = program;
  const warnings: string[] = [];
  const mayBeEvaluated = evaluator !== null || hooks !== undefined;
  if (rollout.rewardSource === "rollout" && !(scoresItself && mayBeEvaluated)) {
    warnings.push(
      scoresItself
        ? "rollout.reward_source=rollout has no effect: there is no evaluator, so the rewards of the rollout train anyway."
        : "rollout.reward_source=rollout has no effect: an agent flow is scored by its evaluator. Rewards that it reports for single trajectories train in any case.",
    );
  }
  const isPerStep = stepwiseAdvantage.enable && stepwiseAdvantage.mode === "per_step";
  if (isPerStep && scoresItself && evaluator !== null && rollout.rewardSource === "evaluator") {
    warnings.push(
      "stepwise_advantage.mode=per_step has no rewards of single steps to work with: the evaluator's reward trains in their place. Set rollout.reward_source=rollout to train on the rollout's own.",
    );
  }
  if (algorithm.excludedReasons.includes("max_turns_exceeded") && !limitsTurns) {
    warnings.push(
      `max_turns_exceeded in algorithm.excluded_reasons has no limit on turns to work with: ${what} sets none, so only rollouts count that end with new TerminationEvent("max_turns_exceeded") or report that reason.`,
    );
  }
  return warnings;
}
