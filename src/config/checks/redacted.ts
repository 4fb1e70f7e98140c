/** A configuration of a run folder has no keys in its addresses and commands: they have to be given again. */
import { ConfigError } from "../../core/errors.ts";
import { mask } from "../../util/redact.ts";
import { configFields } from "../fields.ts";
import { configTree } from "../parse.ts";
import type { TrainConfig } from "../train-config.ts";
import { valueAt } from "../tree.ts";

/** @throws ConfigError for the first option that `isUsed` whose value had a key, which it lacks now. */
export function refuseRedacted(
  config: TrainConfig,
  isUsed: (key: string) => boolean = () => true,
): void {
  const tree = configTree(config);
  for (const { key } of configFields()) {
    const text = JSON.stringify(valueAt(tree, key) ?? null);
    if (!isUsed(key) || !text.includes(mask)) continue;
    throw new ConfigError({
      message: `The option ${key} is ${text}: what was secret in it is not in the folder of a run.`,
      hint: `Give it again: ${key}=...`,
      fields: { option: key },
    });
  }
}
