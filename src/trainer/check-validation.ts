/** Refuses options that need the result of a validation where there is no validation data. */
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
    message: `${asked.map((option) => `${option}=true`).join(" and ")} cannot be used without validation data.`,
    hint: "Set dataset.val (in code: valDataset), or remove the option.",
    fields: { options: asked },
  });
}
