/** Refuses options and evaluators that cannot score the rollouts or the validations of a run. */
import type { TrainConfig } from "../config/train-config.ts";
import type { GroupEvaluator } from "../core/agent.ts";
import { ConfigError } from "../core/errors.ts";
import type { Task } from "../core/task.ts";
import type { Rollouts } from "../rollouts/service/agent-spec.ts";

/**
 * Options that need the result of a validation.
 * @throws ConfigError; other options of validations get a warning (`config/checks/switches.ts`).
 */
export function checkValidation({ trainer }: TrainConfig, valTasks: readonly Task[]): void {
  if (valTasks.length > 0) return;
  const requested = [
    ...(trainer.valOnly ? ["trainer.val_only"] : []),
    ...(trainer.keepBest ? ["trainer.keep_best"] : []),
  ];
  if (requested.length === 0) return;
  throw new ConfigError({
    message: `${requested.map((option) => `${option}=true`).join(" and ")} cannot be used without validation data.`,
    hint: "Set dataset.val (in code: valDataset), or remove the option.",
    fields: { options: requested },
  });
}

interface GroupScored {
  readonly config: TrainConfig;
  readonly rollouts: Pick<Rollouts, "program" | "evaluator" | "hooks">;
  readonly valTasks: readonly Task[];
  readonly groupEvaluator?: GroupEvaluator;
}

/** @throws ConfigError */
export function checkGroupEvaluator(run: GroupScored): void {
  const { config, rollouts, valTasks, groupEvaluator } = run;
  if (groupEvaluator === undefined) return;
  const { n, rewardSource } = config.rollout;
  if (n < 2) {
    throw new ConfigError({
      message: `group_evaluator scores the rollouts of a task relative to each other, but rollout.n is ${n}.`,
      hint: "Set rollout.n to 2 or more.",
      fields: { option: "rollout.n", value: n },
    });
  }
  if (rewardSource === "rollout") {
    throw new ConfigError({
      message:
        "rollout.reward_source=rollout and group_evaluator cannot be combined: the group evaluator's scores replace the reported rewards.",
      hint: "Remove one of them. The group evaluator sees the rewards that rollouts report.",
      fields: { option: "rollout.reward_source" },
    });
  }
  const { program, evaluator, hooks } = rollouts;
  const isScored = evaluator !== null || hooks !== undefined || program.scoresItself === true;
  if (isScored || valTasks.length === 0) return;
  throw new ConfigError({
    message:
      "There is validation data, but no evaluator: scores of a group evaluator are relative to the other rollouts of a step, so they cannot be compared between steps.",
    hint: "Add an evaluator, which scores validations, or remove dataset.val (in code: valDataset).",
    fields: { option: "evaluator" },
  });
}
