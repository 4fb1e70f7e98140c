/** Recorded runs (scripts/health-runs/), examined after each line as the trainer does. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { diseaseFacts, type DiseaseName } from "../../src/core/health.ts";
import { examine } from "../../src/runs/health/find-problems.ts";
import { History } from "../../src/runs/health/history.ts";

interface RecordedRun {
  readonly name: string;
  readonly disease?: string;
  readonly steps: readonly number[];
  readonly phases: readonly string[];
  readonly metrics: Readonly<Record<string, number | null | readonly (number | null)[]>>;
}

function read(kind: string): RecordedRun[] {
  const folder = new URL(`../fixtures/health-runs/${kind}/`, import.meta.url);
  return readdirSync(folder).map((name) => ({
    name,
    ...(JSON.parse(readFileSync(new URL(name, folder), "utf8")) as Omit<RecordedRun, "name">),
  }));
}

/** Every disease that the run would have warned of. */
function warnings({ steps, phases, metrics }: RecordedRun): Set<DiseaseName> {
  const history = new History();
  const found = new Set<DiseaseName>();
  for (const [i, step] of steps.entries()) {
    const values = Object.entries(metrics).flatMap(([name, column]): [string, number][] => {
      const value = Array.isArray(column)
        ? (column[i] as number | null)
        : (column as number | null);
      return value === null ? [] : [[name, value]];
    });
    history.add({ step, phase: phases[i]!, values: Object.fromEntries(values) });
    for (const { disease } of examine(history)) found.add(disease);
  }
  return found;
}

it("names at least 14 of the diseases of 15 real runs with a planted fault", () => {
  const runs = read("diseased");
  expect(runs).toHaveLength(15);
  const missed = runs.flatMap((run) => {
    const found = [...warnings(run)].map((name) => diseaseFacts[name].title);
    return found.includes(run.disease!) ? [] : [`${run.name}: ${found.join(", ")}`];
  });
  expect(missed.length, missed.join("; ")).toBeLessThanOrEqual(1);
});

it("raises a false alarm in at most 2 of 20 real runs that learn", () => {
  const runs = read("healthy");
  expect(runs).toHaveLength(20);
  const alarms = runs.flatMap((run) => {
    const found = [...warnings(run)];
    return found.length === 0 ? [] : [`${run.name}: ${found.join(", ")}`];
  });
  expect(alarms.length, alarms.join("; ")).toBeLessThanOrEqual(2);
});
