/** The table of models: measured rows as they are saved, computed rows as their formula says. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readPage, root } from "./pages.ts";

const saved = (file: string, metric: string): number => {
  const text = readFileSync(join(root, "benchmarks/results", file), "utf8");
  const { results } = JSON.parse(text) as { results: { metric: string; ours: number }[] };
  return results.find((one) => one.metric === metric)!.ours;
};
const step = "16 prompts of 64 tokens x 8 rollouts of 64";
const minutes = 60 / saved("grpo-step.json", `${step}: a step`);
const timeText = (all: number): string =>
  all < 1 ? `${Math.round(60 * all)} s` : `${all.toFixed(1)} min`;
const rows = readPage("docs/models.md")
  .split("## What can be named")[0]!
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.split("|").map((cell) => cell.trim()))
  // Without the head.
  .slice(1);

it("has what was measured", () => {
  const [tiny, small] = rows;
  expect(tiny![3]).toBe(
    `${Math.round(saved("demo.json", "whole run, median"))} s for the whole demo`,
  );
  const update = saved("engine-train.json", "shop-tiny, all weights, a demo step: peak memory");
  expect(tiny![4]).toBe(`${(update / 1024).toFixed(1)} GiB in an update`);
  expect(small![3]).toBe(timeText(minutes));
  expect(small![4]).toBe(
    `${(saved("grpo-step.json", `${step}: peak memory`) / 1024).toFixed(1)} GiB`,
  );
});

it("has what was computed by its formula, and says so", () => {
  const computed = rows.slice(2);
  expect(computed.length).toBeGreaterThan(3);
  for (const [, name, billions, time, memory, how] of computed) {
    expect(how, name).toBe("computed");
    expect(time, name).toBe(timeText((minutes * Number(billions)) / 0.135));
    expect(memory, name).toBe(`${((4e9 * Number(billions)) / 2 ** 30 + 1.5).toFixed(1)} GiB`);
  }
});
