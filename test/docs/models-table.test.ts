/** The table of models: measured rows as they are saved, computed rows as their formula says. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { knownModels, measured, stepText } from "../../src/launch/init/known-models.ts";
import { readPage, root } from "./pages.ts";

const saved = (file: string, metric: string): number => {
  const text = readFileSync(join(root, "benchmarks/results", file), "utf8");
  const { results } = JSON.parse(text) as { results: { metric: string; ours: number }[] };
  return results.find((one) => one.metric === metric)!.ours;
};
const step = "16 prompts of 64 tokens x 8 rollouts of 64";
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
  expect(small![3]).toBe(stepText(3600 / saved("grpo-step.json", `${step}: a step`)));
  const training = "npm run train, 2 of its 12 steps, memory of the largest process";
  const mebibytes = saved("first-hour-model.json", training);
  expect(small![4]).toBe(`${(mebibytes / 1024).toFixed(1)} GiB`);
});

it("has the models and the numbers that init proposes, and says which were computed", () => {
  const real = rows.slice(1);
  expect(real).toHaveLength(knownModels.length);
  for (const [i, model] of knownModels.entries()) {
    const [, name, billions, time, memory, how] = real[i]!;
    expect(name).toBe(`\`${model.name}\``);
    expect(Number(billions), name).toBe(model.parameters);
    expect(time, name).toBe(stepText(model.stepSeconds));
    expect(memory, name).toBe(`${model.memoryGib.toFixed(1)} GiB`);
    if (!model.isMeasured) expect(how, name).toBe("computed");
  }
  expect(measured.file).toBe("benchmarks/results/grpo-step.json");
  expect(measured.memoryFile).toBe("benchmarks/results/first-hour-model.json");
});
