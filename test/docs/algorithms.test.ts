import { expect, it } from "vitest";
import { estimatorNames } from "../../src/algorithms/catalog.ts";
import { lossAggregations, lossNames } from "../../src/core/loss/loss.ts";
import { frameworkNames } from "../../src/launch/init/frameworks.ts";
import { scheduleNames } from "../../src/algorithms/schedule.ts";
import { readPage, tableRows, unquoted } from "./pages.ts";

const numbers = "no one two three four five six seven eight nine ten eleven twelve".split(" ");

const page = readPage("docs/algorithms.md");

it.each([
  ["estimator", estimatorNames],
  ["loss", lossNames],
  ["aggregation", lossAggregations],
  ["schedule", scheduleNames],
])("lists every %s, in the order of the code", (heading, names) => {
  expect(tableRows(page, heading).map(([name]) => unquoted(name!))).toEqual(names);
});

it("the pages that count them count right", () => {
  const readme = readPage("README.md");
  const [estimators, losses] = [estimatorNames, lossNames].map(({ length }) => numbers[length]);
  expect(readme).toContain(`${estimators} estimators, ${losses} losses`);
  const frameworks = frameworkNames.length;
  expect(readPage("docs/index.md")).toContain(`init\` for ${numbers[frameworks]} frameworks`);
});
