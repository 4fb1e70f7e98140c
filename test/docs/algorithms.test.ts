import { expect, it } from "vitest";
import { estimatorNames } from "../../src/algorithms/catalog.ts";
import { lossAggregations, lossNames } from "../../src/core/loss/loss.ts";
import { scheduleNames } from "../../src/algorithms/schedule.ts";
import { readPage, tableRows, unquoted } from "./pages.ts";

const page = readPage("docs/algorithms.md");

it.each([
  ["estimator", estimatorNames],
  ["loss", lossNames],
  ["aggregation", lossAggregations],
  ["schedule", scheduleNames],
])("lists every %s, in the order of the code", (heading, names) => {
  expect(tableRows(page, heading).map(([name]) => unquoted(name!))).toEqual(names);
});
