import { describe, expect, it } from "vitest";
import { defaultLoss } from "../../core/loss/loss.ts";
import type { MicroBatch } from "./batch.ts";
import { RatioStatistics } from "./ratio-statistics.ts";

const batchOf = (sampled: number[]): MicroBatch =>
  ({
    lossInputs: {
      sampling_logprobs: { data: Float32Array.from(sampled), shape: [sampled.length] },
    },
  }) as unknown as MicroBatch;

describe("ratio statistics", () => {
  it("are formulas of the ratios exp(now - sampled), over all micro-batches", () => {
    const statistics = new RatioStatistics(defaultLoss);
    const ratios = [Math.exp(0.5), Math.exp(-0.25), 1];
    statistics.add(batchOf([-1.5, -1]), Float32Array.of(-1, -1.25), {});
    statistics.add(batchOf([-2]), Float32Array.of(-2), {});
    const mean = (values: number[]): number => values.reduce((sum, x) => sum + x, 0) / 3;
    const square = mean(ratios.map((ratio) => ratio ** 2));
    const summary = statistics.summary();
    const expected = {
      tokens: 3,
      kl_k1: -0.25 / 3,
      kl_k3: mean(ratios) - 1 - 0.25 / 3,
      logprob_abs_diff_mean: 0.25,
      ratio_mean: mean(ratios),
      ratio_max: Math.exp(0.5),
      ratio_min: Math.exp(-0.25),
      ess_fraction: mean(ratios) ** 2 / square,
      chi2: square - 1,
      sampled_nll: 1.5,
    };
    expect(Object.keys(summary).sort()).toEqual(Object.keys(expected).sort());
    for (const [name, value] of Object.entries(expected))
      expect(summary[name], name).toBeCloseTo(value, 6);
  });

  it("say nothing of ratios where there are none", () => {
    expect(new RatioStatistics(defaultLoss).summary()).toEqual({ tokens: 0 });
    const supervised = new RatioStatistics({ ...defaultLoss, name: "cross_entropy" });
    supervised.add(batchOf([-1]), Float32Array.of(-2), {});
    expect(supervised.summary()).toEqual({ tokens: 1 });
  });
});
