import { describe, expect, it } from "vitest";
import { RuleState } from "./rule-state.ts";

/** log p + bias, less the logarithm of the sum of their exponentials, in 64 bits. */
function expected(probabilities: readonly number[], bias: ReadonlyMap<number, number>): number[] {
  const logits = probabilities.map((p, token) => Math.log(p) + (bias.get(token) ?? 0));
  const most = Math.max(...logits);
  const total = logits.reduce((sum, logit) => sum + Math.exp(logit - most), 0);
  return logits.map((logit) => Math.exp(logit - most) / total);
}

describe("logit_bias", () => {
  const probabilities = [1e-9, 0.7, 0.2, 0.1 - 1e-9];
  it.each<[string, [number, number][], number | undefined]>([
    ["100 makes a token the only one", [[0, 100]], 0],
    ["-100 leaves the others as they are among themselves", [[1, -100]], undefined],
    [
      "-100 on all changes nothing",
      [
        [0, -100],
        [1, -100],
        [2, -100],
        [3, -100],
      ],
      undefined,
    ],
    [
      "100 on two leaves their ratio",
      [
        [1, 100],
        [2, 100],
      ],
      undefined,
    ],
    ["small ones", [[2, 1.5]], undefined],
  ])("%s", (_, bias, only) => {
    const state = new RuleState(4, { bias }, null);
    const found = state.apply(Float32Array.from(probabilities));
    for (const [token, p] of expected(probabilities, new Map(bias)).entries())
      expect(found[token]).toBeCloseTo(p, 6);
    if (only !== undefined) expect(found[only]).toBe(1);
  });

  it("a penalty of -2 may add up to any number", () => {
    const state = new RuleState(4, { frequencyPenalty: -2 }, null);
    for (let i = 0; i < 1000; i++) state.accept(2);
    expect([...state.apply(Float32Array.from(probabilities))]).toEqual([0, 0, 1, 0]);
  });
});
