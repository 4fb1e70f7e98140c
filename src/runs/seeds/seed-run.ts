/** What is known of one of several runs that differ in their seed, from its folder. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { lastMetrics } from "../compare-runs.ts";
import { readRun } from "../run-summary.ts";
import { configFile } from "../stored-config.ts";

/** A run with its seed. `waiting`: it has not begun, or was stopped before its end. */
export interface SeedRun {
  readonly name: string;
  /** Path of its folder. */
  readonly path: string;
  readonly seed: number;
  readonly status: "completed" | "untrained" | "out_of_budget" | "failed" | "waiting";
  /** Why it failed, ended early or learned nothing; null otherwise. */
  readonly message: string | null;
  /** The metric at its end; null where it has none, and of runs that failed or wait. */
  readonly value: number | null;
}

export const holdsRun = (path: string): boolean => existsSync(join(path, configFile));

export async function seedRunState(path: string): Promise<Pick<SeedRun, "status" | "message">> {
  if (!holdsRun(path)) return { status: "waiting", message: null };
  const { status, reason } = await readRun(path);
  switch (status) {
    case "completed":
    case "untrained":
    case "out_of_budget":
    case "failed":
      return { status, message: reason };
    default:
      return { status: "waiting", message: null };
  }
}

/** What runs are compared by: the first that one of them has. The losses are of fine-tuning. */
const metricNames = ["val/reward/mean", "reward/mean", "val/loss", "train/loss"] as const;

export type SeedMetric = (typeof metricNames)[number];

/** @param metric of the runs before; null takes the first that this one has */
export function seedRunValue(
  path: string,
  metric: SeedMetric | null,
): readonly [SeedMetric, number] | null {
  const metrics = lastMetrics(path);
  for (const name of metric === null ? metricNames : [metric]) {
    const value = metrics[name];
    if (value !== undefined && Number.isFinite(value)) return [name, value];
  }
  return null;
}
