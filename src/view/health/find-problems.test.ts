import { expect, it } from "vitest";
import type { MetricLine } from "../metrics-file.ts";
import { findProblems } from "./find-problems.ts";

const run = (values: (step: number) => Record<string, number>, steps = 12): MetricLine[] =>
  Array.from({ length: steps }, (_, i) => ({ step: i + 1, phase: "train", values: values(i + 1) }));

const names = (lines: readonly MetricLine[]): string[] =>
  findProblems(lines).map(({ name }) => name);

const healthy = (step: number): Record<string, number> => ({
  "reward/mean": 0.2 + step / 20,
  "reward/std": 0.4,
  "groups/agent/informative_fraction": 0.5,
  "train/grad_norm": 0.5,
  "train/entropy": 1 - step / 40,
  "train/logprob_abs_diff_mean": 0.001,
  "train/clip_fraction": 0.02,
  "train/skipped_updates": 0,
  "episode/tokens/response": 50 + step,
  "episode/truncated": 0.02,
  "episode/calls/untrainable": 0,
  "rollout/failed": 0,
  "rollout/retries": 0,
  "rollout/pass@1": 0.2 + step / 25,
});

it("finds nothing in a healthy run, nor in one without lines", () => {
  expect(names(run(healthy))).toEqual([]);
  expect(names([])).toEqual([]);
});

const diseases: readonly (readonly [string, (step: number) => Record<string, number>])[] = [
  ["no reward variance", () => ({ "reward/std": 0 })],
  ["few informative groups", () => ({ "groups/agent/informative_fraction": 0 })],
  ["gradient is zero", () => ({ "train/grad_norm": 0 })],
  ["gradient explodes", (step) => ({ "train/grad_norm": step > 6 ? 5000 : 0.5 })],
  ["entropy collapse", (step) => ({ "train/entropy": step < 4 ? 1 : 0.01 })],
  ["length collapse", (step) => ({ "episode/tokens/response": step < 4 ? 60 : 3 })],
  ["truncation", () => ({ "episode/truncated": 0.6 })],
  ["failed rollouts", (step) => ({ "rollout/failed": step % 2 })],
  ["retries", () => ({ "rollout/retries": 3 })],
  ["calls that cannot be trained on", () => ({ "episode/calls/untrainable": 1 })],
  ["sampler and trainer differ", () => ({ "train/logprob_abs_diff_mean": 0.7 })],
  ["policy moves too far per step", () => ({ "train/clip_fraction": 0.8 })],
  ["skipped updates", () => ({ "train/skipped_updates": 1 })],
  ["reward is hacked", (step) => ({ "rollout/pass@1": 1 - step / 15 })],
  ["validation diverges from training", (step) => ({ "val/reward/mean": 1 - step / 15 })],
];

it.each(diseases)("names %s, and nothing else", (name, values) => {
  const found = findProblems(run((step) => ({ ...healthy(step), ...values(step) })));
  expect(found.map((one) => one.name)).toEqual([name]);
  expect(found[0]!.evidence).not.toBe("");
});
