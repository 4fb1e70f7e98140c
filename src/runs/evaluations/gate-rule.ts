/** When a candidate may take the place of the model in use: limits, with defaults and bounds. */
import { ConfigError } from "../../core/errors.ts";

/** Limits of {@link gateEvaluations}. */
export interface GateRule {
  /**
   * The 95 % interval of the difference in mean reward over held-out tasks must lie above it, as a whole. A
   * negative one allows a loss, for a candidate that is to be cheaper or faster. @default 0
   */
  readonly minGain?: number;
  /** Fields of `task.metadata`; the tasks of each value of one are a slice. @default ["data_source"] */
  readonly slices?: readonly string[];
  /** Mean reward that a slice may lose, at least 0. @default 0.05 */
  readonly maxSliceLoss?: number;
  /** Slices of fewer tasks are shown and decide nothing; at least 1. @default 6 */
  readonly minSliceTasks?: number;
  /** Tasks of the regression set that the model in use solves and the candidate may not, at least 0. @default 0 */
  readonly maxRegressions?: number;
  /** Cost per attempt as a multiple of that of the model in use, above 0. @default no limit */
  readonly maxCost?: number | null;
  /** Seconds per attempt as a multiple of those of the model in use, above 0. @default no limit */
  readonly maxLatency?: number | null;
  /** Price of tokens that cost is counted with, at least 0. @default 1 for each of both */
  readonly prices?: { readonly prompt: number; readonly sampled: number };
  /** Seed of the intervals. @default 0 */
  readonly seed?: number;
}

const bounds: Readonly<Partial<Record<keyof GateRule, (value: number) => boolean>>> = {
  minGain: Number.isFinite,
  maxSliceLoss: (value) => value >= 0,
  minSliceTasks: (value) => Number.isInteger(value) && value >= 1,
  maxRegressions: (value) => Number.isInteger(value) && value >= 0,
  maxCost: (value) => value > 0,
  maxLatency: (value) => value > 0,
};

/** With defaults. @throws ConfigError that names the limit which is out of its bounds. */
export function checkRule(given: GateRule): Required<GateRule> {
  const rule: Required<GateRule> = {
    minGain: given.minGain ?? 0,
    slices: given.slices ?? ["data_source"],
    maxSliceLoss: given.maxSliceLoss ?? 0.05,
    minSliceTasks: given.minSliceTasks ?? 6,
    maxRegressions: given.maxRegressions ?? 0,
    maxCost: given.maxCost ?? null,
    maxLatency: given.maxLatency ?? null,
    prices: given.prices ?? { prompt: 1, sampled: 1 },
    seed: given.seed ?? 0,
  };
  for (const [name, isValid] of Object.entries(bounds)) {
    const value = rule[name as keyof typeof bounds] as number | null;
    if (value === null || isValid(value)) continue;
    throw new ConfigError({
      message: `The limit ${name} of the gate is out of its bounds: ${value}.`,
      fields: { option: name, value },
    });
  }
  const { prompt, sampled } = rule.prices;
  if (prompt >= 0 && sampled >= 0 && prompt + sampled > 0) return rule;
  throw new ConfigError({
    message: `The prices of the gate must be at least 0, and one of them above it, but they are ${prompt} and ${sampled}.`,
    fields: { option: "prices" },
  });
}
