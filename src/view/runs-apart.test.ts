import { expect, it } from "vitest";
import { runsApart } from "./runs-apart.ts";

const run = (options: Readonly<Record<string, string>>) => new Map(Object.entries(options));

it("lists the options that are not the same in all runs, and joins those of other seeds", () => {
  const seed = (value: number) => ({
    "data.seed": `${value}`,
    "trainer.seed": `${value}`,
  });
  const common = { "model.name": '"m"', "trainer.output_dir": '"a"' };
  const { options, groups } = runsApart([
    run({ ...common, ...seed(1), "training.learning_rate": "0.1" }),
    run({ ...common, ...seed(2), "training.learning_rate": "0.1" }),
    run({ ...common, ...seed(1), "training.learning_rate": "0.2", "rollout.n": "4" }),
    run({}),
  ]);
  expect(options).toEqual([
    { key: "rollout.n", values: [null, null, "4", null] },
    { key: "training.learning_rate", values: ["0.1", "0.1", "0.2", null] },
    // The other one follows it.
    { key: "trainer.seed", values: ["1", "2", "1", null] },
  ]);
  // A folder without options is like no other.
  expect(groups).toEqual([0, 0, 1, 2]);
});

it("finds nothing between runs of the same options in other folders", () => {
  const { options, groups } = runsApart([
    run({ "trainer.experiment_name": '"a"' }),
    run({ "trainer.experiment_name": '"b"' }),
  ]);
  expect({ options, groups }).toEqual({ options: [], groups: [0, 0] });
});
