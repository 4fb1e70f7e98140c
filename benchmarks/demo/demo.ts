/** `demo`: the demo as people run it, seed by seed, against what it must show. */
import type { Benchmark } from "../harness/benchmark.ts";
import { goalOf } from "../harness/kernel-goals.ts";
import { atLeast, atMost, type Goal, type Result, result } from "../harness/result.ts";
import { median } from "../harness/statistics.ts";
import { createTempFolder } from "../harness/temp-folder.ts";
import { type DemoRun, runDemo } from "./run-demo.ts";

interface DemoMetric {
  readonly key: Exclude<keyof DemoRun, "seed">;
  readonly label: string;
  readonly unit: string;
  readonly goal?: Goal;
}

const goals = goalOf({ native: { whole: 12, update: 1 }, portable: { whole: 18, update: 1.5 } });

const metrics: readonly DemoMetric[] = [
  { key: "seconds", label: "whole run", unit: "s", goal: atMost(goals.whole) },
  { key: "secondsToFirstUpdate", label: "first update", unit: "s", goal: atMost(goals.update) },
  { key: "valFirst", label: "validation reward before", unit: "", goal: atMost(0.35) },
  { key: "valLast", label: "validation reward after", unit: "", goal: atLeast(0.9) },
  { key: "rewardFirst", label: "training reward, first step", unit: "" },
  { key: "rewardLast", label: "training reward, last step", unit: "" },
  { key: "outsideEngineShare", label: "share outside the engine", unit: "", goal: atMost(0.15) },
];

/** Per metric the median of all seeds, then every seed. A short run is not held to the goals. */
export function demoResults(runs: readonly DemoRun[], isShort: boolean): readonly Result[] {
  return metrics.flatMap(({ key, label, unit, goal }) => {
    const held = isShort ? undefined : goal;
    return [
      result(`${label}, median`, unit, median(runs.map((run) => run[key])), held),
      ...runs.map((run) => result(`${label}, seed ${run.seed}`, unit, run[key], held)),
    ];
  });
}

export const demo: Benchmark = {
  name: "demo",
  summary: "the demo's time, rewards and share of a step outside the engine, seed by seed",
  async run({ quick, seeds }, log) {
    using folder = createTempFolder();
    const runs: DemoRun[] = [];
    for (let seed = 1; seed <= seeds; seed++) {
      log(`seed ${seed} ...`);
      runs.push(await runDemo(seed, folder.path, quick ? 3 : undefined));
    }
    return demoResults(runs, quick);
  },
};
