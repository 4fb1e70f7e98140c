/** Which runs the page of runs overlays, and their colors. */
import { expect, it } from "vitest";
import { colorOf, fitting } from "../../src/view/app/overlaid.ts";
import type { RunEntry } from "../../src/view/api/runs.ts";
import type { RunsApart } from "../../src/view/api/comparisons.ts";

const runs = Array.from({ length: 20 }, (_, key) => ({ key }) as RunEntry);
/** Four points with five seeds each. */
const joined: RunsApart = { options: [], groups: runs.map(({ key }) => key % 4) };

it("shows settings over seeds as a line for each point", () => {
  const shown = fitting(runs, joined);
  expect(shown).toHaveLength(20);
  expect(shown.map((run) => colorOf(run, shown, joined))).toEqual(
    runs.map(({ key }) => 1 + (key % 4)),
  );
});

it("shows as many lines as there are colors, and no more runs than it can read", () => {
  const shown = fitting(runs, null);
  expect(shown.map((run) => colorOf(run, shown, null))).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(colorOf(runs[8]!, shown, null)).toBe(0);
  const many = Array.from({ length: 50 }, (_, key) => ({ key }) as RunEntry);
  expect(fitting(many, { options: [], groups: many.map(() => 0) })).toHaveLength(32);
});
