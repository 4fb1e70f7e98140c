/** Which validation is the best so far, and when none has been better for too long. Pure. */
import type { TrainConfig } from "../config/train-config.ts";
import { ConfigError } from "../core/errors.ts";
import { nearestName } from "../util/nearest-name.ts";
import type { BestValidation, Patience } from "./checkpoint.ts";

/** What validations are compared by, and how long a run waits for a better one. */
export interface ValidationGoal {
  readonly metric: string;
  readonly isLowerBetter: boolean;
  /** By how much a validation must be better to end the wait. */
  readonly minDelta: number;
  /** Validations in a row that may be no better; 0 waits forever. */
  readonly patience: number;
  /** The option that sets it. */
  readonly patienceOption: "trainer.early_stopping_patience" | "fine_tuning.patience";
}

/** Of runs that learn from rollouts. */
export const rewardGoal = ({ trainer }: Pick<TrainConfig, "trainer">): ValidationGoal => ({
  metric: trainer.bestMetric,
  isLowerBetter: false,
  minDelta: trainer.earlyStoppingMinDelta,
  patience: trainer.earlyStoppingPatience,
  patienceOption: "trainer.early_stopping_patience",
});

/** What runs that learn from examples are compared by where nothing else is measured. */
const lossMetric = "val/loss";

/** Of runs that learn from examples: the loss on those that are held out, or the rewards of an agent. */
export const fineTuningGoal = (
  config: Pick<TrainConfig, "trainer" | "fineTuning">,
): ValidationGoal => {
  const { patience, rewards } = config.fineTuning;
  const usual = rewardGoal(config);
  const metric = rewards ? usual.metric : lossMetric;
  return {
    ...usual,
    metric,
    isLowerBetter: metric === lossMetric,
    ...(patience === 0 ? {} : { patience, patienceOption: "fine_tuning.patience" }),
  };
};

/** By how much `value` is better than `before`; negative where it is worse. */
const gain = ({ isLowerBetter }: ValidationGoal, value: number, before: number): number =>
  isLowerBetter ? before - value : value - before;

const isPassRate = (name: string): boolean => /\/pass@\d+$/u.test(name);

/**
 * Whether `metrics` beats `best`; the earlier of two equal ones stays.
 * @throws ConfigError when validations have no such metric.
 */
export function isBetter(
  metrics: Readonly<Record<string, number>>,
  goal: ValidationGoal,
  best: BestValidation | null,
): boolean {
  const { metric } = goal;
  const value = metrics[metric];
  if (value !== undefined) return best === null || gain(goal, value, best.value) > 0;
  // The metric exists, or everything failed: this validation has no value to compare.
  if (best !== null || metrics["val/failed"] === metrics["val/episodes"]) return false;
  const known = Object.keys(metrics).filter((key) => key.startsWith("val/"));
  const nearest = nearestName(metric, known);
  throw new ConfigError({
    message: `trainer.best_metric=${metric} is not a metric of this run's validations.${nearest === undefined ? "" : ` Did you mean ${nearest}?`}`,
    hint: `Available metrics: ${known.join(", ")}.${isPassRate(metric) ? " A pass rate needs an evaluator that returns isCorrect, or rollout.solved_reward." : ""}`,
    fields: { name: metric, known },
  });
}

/** After another validation; one without a value of the metric counts as not better. */
export function waitOn(
  before: Patience | null,
  value: number | undefined,
  goal: ValidationGoal,
): Patience | null {
  if (before === null) return value === undefined ? null : { value, waited: 0 };
  const ends = value !== undefined && gain(goal, value, before.value) > goal.minDelta;
  return ends ? { value, waited: 0 } : { ...before, waited: before.waited + 1 };
}

/** Why the run is to stop, as a sentence; null while it may continue. */
export function whyStop(
  wait: Patience | null,
  step: number,
  { metric, patience, patienceOption }: ValidationGoal,
): string | null {
  if (patience === 0 || wait === null || wait.waited < patience) return null;
  return `Stopped early after step ${step}: ${metric} has not been better than ${wait.value} for ${wait.waited} validation(s) (${patienceOption}=${patience}).`;
}
