/** What `distillation.hint` names: a field of the task, or a function. */
import type { TrainConfig } from "../../config/train-config.ts";
import { ConfigError } from "../../core/errors.ts";
import type { Hint } from "../../trainer/update/self-teacher.ts";
import { loadExport } from "../load-module.ts";

/** @throws ConfigError for an export that is not a function. */
export async function loadHint(
  { distillation: { teacher, hint } }: Pick<TrainConfig, "distillation">,
  folder: string,
): Promise<Hint | undefined> {
  if (teacher !== "self" || hint === null) return undefined;
  if (!hint.includes("#")) {
    const path = hint.split(".");
    return ({ metadata }) => {
      const found = path.reduce<unknown>(
        (value, key) => (value as Readonly<Record<string, unknown>> | null | undefined)?.[key],
        metadata,
      );
      if (found === undefined || found === null || found === "") return null;
      return `\n\nThe answer is ${typeof found === "string" ? found : JSON.stringify(found)}`;
    };
  }
  const option = "distillation.hint";
  const value = await loadExport({ spec: hint, folder, option, defaults: ["hint", "default"] });
  if (typeof value === "function") return value as Hint;
  throw new ConfigError({
    message: `distillation.hint names ${hint}, which is not a function.`,
    hint: "Export a function of task and episode that returns a text, or null.",
    fields: { option, value: hint },
  });
}
