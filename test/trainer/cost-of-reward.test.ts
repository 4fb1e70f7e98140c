import { expect, it } from "vitest";
import { costOfReward, formatCost } from "../../src/runs/cost-of-reward.ts";

const train = (step: number, values: Record<string, number>) => ({ step, phase: "train", values });

it("divides what was spent by the points that were gained", () => {
  const lines = [0.1, 0.2, 0.4, 0.5].map((reward, i) =>
    train(i + 1, {
      "reward/mean": reward,
      "time/step_s": 3,
      "tokens/sampled": 100,
      "spent/tokens": 1000 * (i + 1),
      "spent/usd": 0.5 * (i + 1),
    }),
  );
  // Two steps at each end: 0.45 - 0.15 = 30 points, for 12 s, 4,000 tokens and $2.
  const cost = costOfReward(lines)!;
  expect(cost).toMatchObject({ metric: "reward/mean", seconds: 12, tokens: 4000, usd: 2 });
  expect(cost.gain).toBeCloseTo(0.3, 12);
  expect(cost.perPoint!.seconds).toBeCloseTo(0.4, 12);
  expect(cost.perPoint!.tokens).toBeCloseTo(4000 / 30, 9);
  expect(cost.perPoint!.usd).toBeCloseTo(2 / 30, 12);
  expect(formatCost(cost)).toBe(
    "12 s, 4,000 tokens, $2; reward/mean +0.3; per 0.01 of it 0.4 s, 133 tokens, $0.0667",
  );
});

it("prefers validations, counts sampled tokens where nothing else is counted, and needs a gain", () => {
  const steps = [0.5, 0.5].map((reward, i) =>
    train(i + 1, { "reward/mean": reward, "time/step_s": 2, "tokens/sampled": 50 }),
  );
  expect(costOfReward(steps)).toMatchObject({ gain: 0, tokens: 100, usd: null, perPoint: null });
  const validation = (step: number, value: number) => ({
    step,
    phase: "validation",
    values: { "val/reward/mean": value },
  });
  const validated = costOfReward([validation(0, 0.2), ...steps, validation(2, 0.4)])!;
  expect(validated.metric).toBe("val/reward/mean");
  expect(validated.perPoint!.seconds).toBeCloseTo(0.2, 12);
  expect(costOfReward(steps.slice(1))).toBeNull();
});
