import { expect, it } from "vitest";
import { configFields } from "../../src/config/fields.ts";
import { diseaseFacts, diseaseNames, type DiseaseName } from "../../src/core/health.ts";
import { findProblems } from "../../src/runs/health/find-problems.ts";
import type { MetricLine } from "../../src/runs/health/history.ts";

type Values = Record<string, number>;

const run = (values: (step: number) => Values, steps = 12): MetricLine[] =>
  Array.from({ length: steps }, (_, i) => ({ step: i + 1, phase: "train", values: values(i + 1) }));

const names = (lines: readonly MetricLine[]): DiseaseName[] =>
  findProblems(lines).map(({ disease }) => disease);

const healthy = (step: number): Values => ({
  "reward/mean": 0.2 + step / 30,
  "reward/std": 0.4,
  "reward/agent/max": 1,
  "groups/count": 8,
  "groups/dropped/uniform_groups": 2,
  "groups/agent/informative_fraction": 0.5,
  "advantage/agent/zero_fraction": 0.2,
  "train/grad_norm": 0.5,
  "train/entropy": 1 - step / 40,
  "train/sampled_nll": 1 - step / 40,
  "train/logprob_abs_diff_mean": 0.001,
  "train/ess_fraction": 0.99,
  "train/clip_fraction": 0.02,
  "train/skipped_updates": 0,
  "train/skipped_steps": 0,
  "episode/tokens/response": 50 + step,
  "episode/truncated": 0.02,
  "episode/turns": 3,
  "episode/text/empty": 0,
  "episode/text/garbled": 0,
  "episode/text/repeated": 0.01,
  "episode/tools/results": 2,
  "episode/tools/errors": 0.2,
  "episode/calls/malformed": 0.1,
  "episode/calls/untrainable": 0,
  "episode/weight_version": step - 1,
  weight_version: step,
  "rollout/episodes": 64,
  "rollout/failed": 0,
  "rollout/retries": 0,
  "rollout/pass@1": 0.2 + step / 30,
  "progress/lr": 1e-5,
});

it("names options that exist", () => {
  const keys = new Set(configFields().map(({ key }) => key));
  const named = Object.values(diseaseFacts).flatMap(({ options = [] }) => options);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((key) => !keys.has(key))).toEqual([]);
});

it("does not miss groups where a critic is learned from, also while only the critic learns", () => {
  const alone = (step: number): Values => {
    const { "train/grad_norm": _, "train/sampled_nll": _nll, ...values } = healthy(step);
    return {
      ...(step <= 4 ? { ...values, "train/critic_warmup": 1 } : healthy(step)),
      "groups/agent/informative_fraction": 0,
      "groups/dropped/uniform_groups": 0,
      "critic/values/mean": 0.3,
    };
  };
  expect(names(run(alone))).toEqual([]);
});

it("finds nothing in a healthy run, in one that has solved its tasks, nor in one without lines", () => {
  expect(names(run(healthy))).toEqual([]);
  expect(names([])).toEqual([]);
  const solved = (step: number): Values =>
    step < 6
      ? healthy(step)
      : {
          ...healthy(step),
          ...{ "reward/mean": 1, "reward/std": 0, "rollout/pass@1": 1, "train/entropy": 0.01 },
          ...{ "groups/agent/informative_fraction": 0, "groups/dropped/uniform_groups": 8 },
          ...{ "train/skipped_steps": 1, "episode/tokens/response": 20 },
        };
  expect(names(run(solved, 20))).toEqual([]);
});

/** What shows each disease. */
const diseases: readonly (readonly [DiseaseName, (step: number) => Values])[] = [
  ["no_reward_variance", () => ({ "reward/std": 0, "groups/agent/informative_fraction": 0 })],
  ["no_reward_variance", () => ({ "groups/dropped/uniform_groups": 8, "train/skipped_steps": 1 })],
  ["no_reward_variance", () => ({ "advantage/agent/zero_fraction": 1, "train/grad_norm": 0 })],
  ["no_reward_variance", () => ({ "groups/agent/informative_fraction": 0.05 })],
  ["reward_hacked", (step) => ({ "rollout/pass@1": 1 - step / 14 })],
  ["updates_skipped", () => ({ "train/grad_norm": 0 })],
  ["updates_skipped", (step) => ({ "train/skipped_updates": step % 2 })],
  ["learning_rate_high", () => ({ "train/clip_fraction": 0.7 })],
  ["learning_rate_high", (step) => ({ "train/grad_norm": step > 8 ? 5000 : 0.5 })],
  ["learning_rate_low", () => ({ "progress/lr": 0 })],
  ["entropy_collapse", (step) => ({ "train/entropy": step < 4 ? 1 : 0.01 })],
  ["garbled_output", (step) => ({ "train/entropy": step < 4 ? 0.5 : 3 })],
  ["garbled_output", () => ({ "episode/text/garbled": 0.4 })],
  [
    "length_collapse",
    (step) => ({ "episode/tokens/response": step < 4 ? 60 : 3, "rollout/pass@1": 0.2 }),
  ],
  ["length_collapse", () => ({ "episode/text/empty": 0.5 })],
  ["truncation", () => ({ "episode/truncated": 0.6 })],
  ["repeated_text", () => ({ "episode/text/repeated": 0.5 })],
  ["tool_errors", () => ({ "episode/tools/errors": 1.5 })],
  ["malformed_tool_calls", () => ({ "episode/calls/malformed": 1.2 })],
  [
    "failed_rollouts",
    () => ({ "rollout/failed": 12, "rollout/termination_fraction/timeout": 0.2 }),
  ],
  ["failed_rollouts", () => ({ "rollout/retries": 20 })],
  ["untrainable_calls", () => ({ "episode/calls/untrainable": 1 })],
  ["sampler_trainer_gap", () => ({ "train/logprob_abs_diff_mean": 0.7 })],
  ["stale_weights", () => ({ "episode/weight_version": 0 })],
];

it("has a case for every disease but that of validations", () => {
  const shown = new Set(diseases.map(([name]) => name));
  expect(diseaseNames.filter((name) => !shown.has(name))).toEqual(["validation_diverges"]);
});

it.each(diseases.map(([name, values]) => [name, JSON.stringify(values(9)), values] as const))(
  "names %s, and nothing else, for %s",
  (name, _, values) => {
    const found = findProblems(run((step) => ({ ...healthy(step), ...values(step) })));
    expect(found.map(({ disease }) => disease)).toEqual([name]);
    expect(found[0]!.evidence).not.toBe("");
    expect(found[0]!.doc).toBe(`docs/health.md#${name.replaceAll("_", "-")}`);
  },
);

it("only warns of what is less than the disease usually is", () => {
  const severity = (values: Values): string =>
    findProblems(run((step) => ({ ...healthy(step), ...values })))[0]!.severity;
  expect(severity({ "reward/std": 0 })).toBe("problem");
  expect(severity({ "groups/agent/informative_fraction": 0.05 })).toBe("warning");
  expect(severity({ "rollout/failed": 12 })).toBe("problem");
  expect(severity({ "rollout/retries": 20 })).toBe("warning");
});

it("compares validations with training", () => {
  const validations = run(healthy, 20).flatMap((line): MetricLine[] => {
    const value = line.step <= 6 ? 0.3 + line.step / 20 : 0.9 - line.step / 20;
    const validation = {
      step: line.step,
      phase: "validation",
      values: { "val/reward/mean": value },
    };
    return line.step % 2 === 0 ? [line, validation] : [line];
  });
  expect(names(validations)).toEqual(["validation_diverges"]);
});

it("names the reasons of failures, and reads a long run by its beginning and its end", () => {
  const failures = { "rollout/failed": 12, "rollout/termination_fraction/timeout": 0.2 };
  const lines = run(() => ({ ...healthy(1), ...failures }), 4);
  expect(findProblems(lines)[0]!.evidence).toContain("timeout 20 %");
  const long = run(
    (step) => ({
      ...healthy(1),
      "train/entropy": step < 990 ? 1 : 0.01,
    }),
    1000,
  );
  expect(names(long).includes("entropy_collapse")).toBe(true);
});
