/** Which validation is the best so far. */
import { ConfigError } from "../core/errors.ts";
import { nearestName } from "../util/nearest-name.ts";
import type { BestValidation } from "./checkpoint.ts";

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
    // Where everything failed there is nothing to be better than.
    if (metrics["val/failed"] === metrics["val/episodes"]) return false;
    const known = Object.keys(metrics).filter((key) => key.startsWith("val/"));
    const nearest = nearestName(name, known);
    throw new ConfigError({
      message: `trainer.best_metric=${name} is no metric of this run's validations.${nearest === undefined ? "" : ` Did you mean ${nearest}?`}`,
      hint: `There are: ${known.join(", ")}.`,
      fields: { name, known },
    });
  }
  return best === null || value > best.value;
}
