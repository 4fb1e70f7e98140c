import { describe, expect, it } from "vitest";
import { learningRateAt, type Schedule, warmupOf } from "./schedule.ts";

function rates(schedule: Partial<Schedule>): number[] {
  const full = {
    name: "constant" as const,
    learningRate: 1,
    warmupSteps: 0,
    totalSteps: 4,
    ...schedule,
  };
  return Array.from({ length: full.totalSteps }, (_, i) => learningRateAt(full, i + 1));
}

describe("learningRateAt", () => {
  it("is constant", () => {
    expect(rates({})).toEqual([1, 1, 1, 1]);
  });
  it("falls linearly to rate / N at the last step", () => {
    expect(rates({ name: "linear" })).toEqual([1, 0.75, 0.5, 0.25]);
  });
  it("warms up, then begins its decay at the full rate", () => {
    expect(rates({ name: "linear", warmupSteps: 2, totalSteps: 6 })).toEqual([
      0.5, 1, 1, 0.75, 0.5, 0.25,
    ]);
  });
  it("falls as a cosine that stays above zero", () => {
    const values = rates({ name: "cosine" });
    expect(values[0]).toBe(1);
    expect(values[2]).toBeCloseTo(0.5, 12);
    expect(values[3]).toBeCloseTo((1 + Math.cos((3 * Math.PI) / 4)) / 2, 12);
    expect(values[3]).toBeGreaterThan(0.1);
  });
  it("falls to a share of the rate where it is told to", () => {
    expect(rates({ name: "linear", minRatio: 0.5 })).toEqual([1, 0.875, 0.75, 0.625]);
    expect(rates({ name: "cosine", minRatio: 0.2 })[2]).toBeCloseTo(0.2 + 0.8 * 0.5, 12);
    expect(rates({ minRatio: 0.2 })).toEqual([1, 1, 1, 1]);
  });
  it("takes the steps of warm-up, or a share of all", () => {
    expect(warmupOf(3, 100)).toBe(3);
    expect(warmupOf(0.25, 10)).toBe(2);
    expect(warmupOf(0, 10)).toBe(0);
  });
  it("only warms up when warm-up covers every step", () => {
    expect(rates({ name: "cosine", warmupSteps: 8 })).toEqual([0.125, 0.25, 0.375, 0.5]);
  });
  it.each(["constant", "linear", "cosine"] as const)("%s never has a step of rate zero", (name) => {
    for (const totalSteps of [1, 2, 7]) {
      for (const warmupSteps of [0, 1, 7, 9]) {
        for (const rate of rates({ name, totalSteps, warmupSteps })) {
          expect(rate).toBeGreaterThan(0);
        }
      }
    }
  });
  it("leaves a rate of zero at zero", () => {
    expect(rates({ name: "cosine", learningRate: 0, warmupSteps: 1 })).toEqual([0, 0, 0, 0]);
  });
});
