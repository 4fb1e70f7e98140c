/** Refuses options that ask for the result of a validation where there is nothing to validate on. */
import { ConfigError } from "../core/errors.ts";
import type { Task } from "../core/task.ts";
import type { TrainConfig } from "../config/train-config.ts";

/** @throws ConfigError; other options of validations get a warning (`config/switches.ts`). */
export function checkValidation({ trainer }: TrainConfig, valTasks: readonly Task[]): void {
  if (valTasks.length > 0) return;
  const asked = [
    ...(trainer.valOnly ? ["trainer.val_only"] : []),
    ...(trainer.keepBest ? ["trainer.keep_best"] : []),
  ];
  if (asked.length === 0) return;
  throw new ConfigError({
    message: `${asked.map((option) => `${option}=true`).join(" and ")} cannot do anything without validation data.`,
    hint: "Set dataset.val (in code: valDataset), or leave the option out.",
    fields: { options: asked },
  });
}
