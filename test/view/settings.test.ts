/** Runs over seeds as settings: what the page of runs says of them. */
import { expect, it } from "vitest";
import type { RunsApart } from "../../src/view/api/comparisons.ts";
import type { RunEntry } from "../../src/view/api/runs.ts";
import { settingName, settingsOf } from "../../src/view/app/settings.ts";

const runs = [0.2, 0.4, 0.9, 0.7, null].map(
  (value, key) =>
    ({
      key,
      lastReward: key / 10,
      bestValidation: value === null ? null : { step: 1, value },
    }) as RunEntry,
);
const apart: RunsApart = {
  options: [
    {
      key: "algorithm.loss.type",
      values: ['"ppo"', '"ppo"', '"cispo"', '"cispo"', null],
    },
    { key: "training.learning_rate", values: ["0.1", "0.1", "0.1", "0.1", "0.2"] },
    { key: "trainer.seed", values: ["0", "1", "0", "1", "0"] },
  ],
  groups: [0, 0, 1, 1, 2],
};

it("takes mean and range over seeds, the best first and what has no validation by its reward", () => {
  const settings = settingsOf(runs, apart);
  expect(settings.map(({ group }) => group)).toEqual([1, 2, 0]);
  expect(settings[0]!.best).toEqual({ mean: expect.closeTo(0.8, 9), low: 0.7, high: 0.9 });
  expect(settings[1]!.best).toBeNull();
  expect(settings[2]!.last).toEqual({ mean: expect.closeTo(0.05, 9), low: 0, high: 0.1 });
});

it("names a setting by what differs, without seeds, quotes and defaults", () => {
  const names = settingsOf(runs, apart).map(({ options }) => settingName(options));
  expect(names).toEqual([
    "loss cispo, learning_rate 0.1",
    "learning_rate 0.2",
    "loss ppo, learning_rate 0.1",
  ]);
});

it("says nothing where no two runs have a setting, or all have one", () => {
  expect(settingsOf(runs, null)).toEqual([]);
  expect(settingsOf(runs, { ...apart, groups: [0, 1, 2, 3, 4] })).toEqual([]);
  expect(settingsOf(runs, { ...apart, groups: [0, 0, 0, 0, 0] })).toEqual([]);
});
