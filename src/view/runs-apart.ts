/** What sets runs apart: options that are not the same in all, and which differ in their seed alone. */
import { identifying } from "../runs/read-options.ts";
import type { RunsApart } from "./api/comparisons.ts";

type Options = ReadonlyMap<string, string>;

const isSeed = (key: string): boolean => /(?:^|[._])seed$/u.test(key);

/** Seeds last, and of those that go together, as they do by default, one. */
function inOrder(options: RunsApart["options"]): RunsApart["options"] {
  const seeds = options.filter(({ key }) => isSeed(key));
  const kept = new Map(seeds.map((option) => [JSON.stringify(option.values), option]));
  return [...options.filter(({ key }) => !isSeed(key)), ...kept.values()];
}

/** @param runs the options of each, as JSON by key; empty where a folder has none */
export function runsApart(runs: readonly Options[]): RunsApart {
  const keys = [...new Set(runs.flatMap((options) => [...options.keys()]))].toSorted();
  // A folder without options says nothing of what differs.
  const known = runs.filter((options) => options.size > 0);
  const differing = keys.filter(
    (key) => !identifying.has(key) && new Set(known.map((options) => options.get(key))).size > 1,
  );
  const recipes = runs.map((options, i) =>
    options.size === 0
      ? `run ${i}`
      : JSON.stringify(differing.filter((key) => !isSeed(key)).map((key) => options.get(key))),
  );
  const numbers = new Map([...new Set(recipes)].map((recipe, i) => [recipe, i]));
  return {
    options: inOrder(
      differing.map((key) => ({
        key,
        values: runs.map((options) => options.get(key) ?? null),
      })),
    ),
    groups: recipes.map((recipe) => numbers.get(recipe) ?? 0),
  };
}
