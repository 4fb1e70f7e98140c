/** Decides which validation is the best so far. */
import { ConfigError } from "../core/errors.ts";
import { nearestName } from "../util/nearest-name.ts";
import type { BestValidation } from "./checkpoint.ts";

const isPassRate = (name: string): boolean => /\/pass@\d+$/u.test(name);

/**
 * Whether `metrics` beats `best`; the earlier of two equal ones stays.
 * @throws ConfigError when validations have no such metric.
 */
export function isBetter(
  metrics: Readonly<Record<string, number>>,
  name: string,
  best: BestValidation | null,
): boolean {
  const value = metrics[name];
  if (value === undefined) {
    // The metric exists, or everything failed: this validation has no value to compare.
    if (best !== null || metrics["val/failed"] === metrics["val/episodes"]) return false;
    const known = Object.keys(metrics).filter((key) => key.startsWith("val/"));
    const nearest = nearestName(name, known);
    throw new ConfigError({
      message: `trainer.best_metric=${name} is not a metric of this run's validations.${nearest === undefined ? "" : ` Did you mean ${nearest}?`}`,
      hint: `Available metrics: ${known.join(", ")}.${isPassRate(name) ? " A pass rate needs an evaluator that returns isCorrect, or rollout.solved_reward." : ""}`,
      fields: { name, known },
    });
  }
  return best === null || value > best.value;
}
