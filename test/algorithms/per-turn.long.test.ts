import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { cases, constructions, estimatedGradient, groupSize } from "./per-turn.ts";

const at = (name: string) => constructions[name]!;

describe.each(cases)(
  "advantages of a turn, where turn 1 pays $r1 and turn 2 pays $r2",
  (rewards) => {
    const truth = rewards.r2 / 4;

    it("are unbiased with per_step and a leave-one-out baseline", () => {
      const { mean, standardError } = estimatedGradient(rewards, at("per_step with rloo"));
      expect(Math.abs(mean - truth)).toBeLessThan(3 * standardError);
      expect(standardError).toBeLessThan(1e-3);
    });

    it("are (n - 1) / n of that with the mean of the group", () => {
      const { mean, standardError } = estimatedGradient(
        rewards,
        at("per_step with grpo, without std"),
      );
      expect(Math.abs(mean - (truth * (groupSize - 1)) / groupSize)).toBeLessThan(
        3 * standardError,
      );
    });

    it("are 0 where each turn is centred by itself, whatever it pays", () => {
      const { mean } = estimatedGradient(rewards, at("centred per turn, then summed"));
      expect(Math.abs(mean)).toBeLessThan(1e-12);
    });
  },
);

it("are the published ones", () => {
  const file = new URL("../../docs/per-turn.json", import.meta.url);
  const { estimates } = JSON.parse(readFileSync(file, "utf8")) as {
    estimates: { r1: number; r2: number; construction: string; mean: number }[];
  };
  expect(estimates).toHaveLength(9);
  const [first] = estimates;
  const { mean } = estimatedGradient(first!, at(first!.construction));
  expect(mean).toBeCloseTo(first!.mean, 6);
});
