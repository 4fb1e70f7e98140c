/** What a run has cost, and what each point of reward cost it: seconds, tokens and, with prices, money. */
import type { MetricLine } from "./health/history.ts";
import { readMetricLines } from "./metric-lines.ts";

/** A point is 0.01 of reward: one percent, where rewards are 0 and 1. */
const point = 0.01;
/** Steps at each end whose mean is compared, where there are so many. */
const averagedSteps = 5;

interface Cost {
  /** Of the steps; rollouts and updates. */
  readonly seconds: number;
  /** All tokens where they are counted (`spent/tokens`), else the sampled ones. */
  readonly tokens: number;
  /** null where no prices are known. */
  readonly usd: number | null;
}

/** The cost of a run and of its reward. */
export interface CostOfReward extends Cost {
  /** What the gain is measured by: validations, where there are two or more. */
  readonly metric: "val/reward/mean" | "reward/mean";
  /** Reward at the end minus that of the beginning: of training the means of up to five steps. */
  readonly gain: number;
  /** Per 0.01 of that; null where nothing was gained. */
  readonly perPoint: Cost | null;
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** @returns null for fewer than two steps. */
export function costOfReward(lines: readonly MetricLine[]): CostOfReward | null {
  const of = (phase: string, name: string): number[] =>
    lines.flatMap((line) => {
      const value = line.phase === phase ? line.values[name] : undefined;
      return value === undefined ? [] : [value];
    });
  const sum = (name: string): number => of("train", name).reduce((total, one) => total + one, 0);
  const rewards = of("train", "reward/mean");
  const validations = of("validation", "val/reward/mean");
  if (rewards.length < 2) return null;
  const isValidated = validations.length >= 2;
  const count = Math.min(averagedSteps, Math.floor(rewards.length / 2));
  const gain = isValidated
    ? (validations.at(-1) ?? 0) - (validations[0] ?? 0)
    : mean(rewards.slice(-count)) - mean(rewards.slice(0, count));
  const seconds = sum("time/step_s");
  const tokens = of("train", "spent/tokens").at(-1) ?? sum("tokens/sampled");
  const usd = of("train", "spent/usd").at(-1) ?? null;
  const points = gain / point;
  return {
    metric: isValidated ? "val/reward/mean" : "reward/mean",
    gain,
    seconds,
    tokens,
    usd,
    perPoint:
      points <= 0
        ? null
        : {
            seconds: seconds / points,
            tokens: tokens / points,
            usd: usd === null ? null : usd / points,
          },
  };
}

/**
 * Reads what a run has cost, in total and per 0.01 of reward, from its folder.
 *
 * @param folder Folder of the run.
 * @returns null for fewer than two steps.
 *
 * @example
 * const cost = await readCostOfReward("runs/shop");
 * console.log(cost?.perPoint?.tokens);
 */
export async function readCostOfReward(folder: string): Promise<CostOfReward | null> {
  return costOfReward(await readMetricLines(folder));
}

const short = (value: number): string => String(Number(value.toPrecision(3)));
const thousands = (value: number): string => Math.round(value).toLocaleString("en-US");

/** In a line, for people. */
export function formatCost({ metric, gain, perPoint, seconds, tokens, usd }: CostOfReward): string {
  const parts = (cost: Cost): string =>
    [
      `${short(cost.seconds)} s`,
      `${thousands(cost.tokens)} tokens`,
      ...(cost.usd === null ? [] : [`$${short(cost.usd)}`]),
    ].join(", ");
  const gained = `${metric} ${gain < 0 ? "" : "+"}${short(gain)}`;
  const each = perPoint === null ? "" : `; per 0.01 of it ${parts(perPoint)}`;
  return `${parts({ seconds, tokens, usd })}; ${gained}${each}`;
}
