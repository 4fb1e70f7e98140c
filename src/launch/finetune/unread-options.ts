/** Options that have no meaning for fine-tuning: those of rollouts and of their rewards. */
import { configFields } from "../../config/fields.ts";
import { optionValue } from "../../config/option-types.ts";
import { configTree } from "../../config/parse.ts";
import type { TrainConfig } from "../../config/train-config.ts";
import { valueAt } from "../../config/tree.ts";

const sections = new Set([
  ...["model", "fine_tuning", "training", "guards", "trainer", "data", "backend"],
  // What watches a run.
  ...["health", "budget", "tracking"],
  ...["local", "tinker", "fireworks", "verl"],
]);
const unreadKeys = new Set([
  "training.num_minibatches",
  "training.ppo_epochs",
  "guards.kl",
  "guards.ratio",
  "trainer.best_metric",
  "trainer.max_failed_fraction",
  "data.val_batch_size",
  "data.max_prompt_length",
  "data.curriculum.type",
  "data.curriculum.difficulty_key",
  "data.curriculum.group_key",
]);

/** Read where there are held-out examples: the configuration of `train` sets them for its own validation. */
const ofValidation = new Set([
  "trainer.test_freq",
  "trainer.keep_best",
  "trainer.early_stopping_patience",
  "trainer.early_stopping_min_delta",
]);

/** Read where rewards are measured: the agent, its tasks, and how they are rolled out and scored. */
const ofRewards: readonly RegExp[] = [
  /^(?:agent|agent_command|evaluator|env|environment|workflow|gateway|record)(?:\.|$)/u,
  /^dataset\.(?:val|val_fraction|val_limit|fields|skip_bad_rows|deduplicate|sources)$/u,
  /^rollout\.(?:val\..+|n_val|failure_reward|solved_reward|reward_source|retry_agent_errors)$/u,
  /^trainer\.(?:best_metric|max_failed_fraction)$/u,
  /^data\.(?:val_batch_size|max_prompt_length)$/u,
];

/** Whether fine-tuning reads the option with a dotted key. */
export function readerOf({ fineTuning }: Pick<TrainConfig, "fineTuning">) {
  return (key: string): boolean => {
    if (fineTuning.rewards && ofRewards.some((pattern) => pattern.test(key))) return true;
    const [section = ""] = key.split(".");
    return sections.has(section) && !unreadKeys.has(key);
  };
}

/** A warning that names them; null where there are none. */
export function unreadWarning(config: TrainConfig, hasValidation: boolean): string | null {
  const tree = configTree(config);
  const isRead = readerOf(config);
  const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
  const set = configFields().flatMap((field) => {
    const { key, default: standard, inherits } = field;
    const usual = inherits === undefined ? standard : valueAt(tree, inherits);
    const isUsed = isRead(key) && (hasValidation || !ofValidation.has(key));
    return isUsed || same(optionValue(tree, field), usual) ? [] : [key];
  });
  if (set.length === 0) return null;
  const shown = set.slice(0, 6).join(", ");
  const more = set.length > 6 ? ` and ${set.length - 6} more` : "";
  const forValidation =
    !hasValidation && set.some((key) => ofValidation.has(key))
      ? " Held-out examples are in fine_tuning.val or fine_tuning.val_fraction."
      : "";
  return `Fine-tuning does not read these options, which are for train and eval: ${shown}${more}.${forValidation}`;
}
