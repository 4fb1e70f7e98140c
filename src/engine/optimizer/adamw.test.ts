import { describe, expect, it } from "vitest";
import { defaultOptim } from "../../core/loss/loss.ts";
import { adamStep, createAdamState } from "./adamw.ts";
import { momentValues, setMoments, zeroMoments } from "./moments.ts";

const parameters = [
  { name: "w", shape: [2], decay: true },
  { name: "norm", shape: [1], decay: false },
];
const weights = (): Map<string, Float32Array> =>
  new Map([
    ["w", Float32Array.of(1, -2)],
    ["norm", Float32Array.of(1)],
  ]);
const gradients = (w: number[], norm: number): Map<string, Float32Array> =>
  new Map([
    ["w", Float32Array.from(w)],
    ["norm", Float32Array.of(norm)],
  ]);

describe("moments in bfloat16", () => {
  const only = [{ name: "w", shape: [5000], decay: true }];
  const sizeOf = (state: ReturnType<typeof createAdamState>): number =>
    state.firstMoment.get("w")!.byteLength + state.secondMoment.get("w")!.byteLength;
  const run = (precision: "float32" | "bfloat16", steps: number, beta2: number) => {
    const w = new Map([["w", new Float32Array(5000)]]);
    const state = createAdamState(only, precision);
    const optim = { ...defaultOptim, learningRate: 0.01, beta2, maxGradNorm: 0 };
    for (let step = 0; step < steps; step++) {
      // Towards 1, each weight with noise of its own.
      const gradient = w.get("w")!.map((value, i) => value - 1 + 0.3 * Math.sin(i + 7 * step));
      adamStep(only, w, new Map([["w", gradient]]), state, optim);
    }
    return { weights: w.get("w")!, state };
  };
  const mean = (values: Float32Array): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;

  it("take half of the memory and lead to the same place", () => {
    const exact = run("float32", 200, 0.95);
    const halved = run("bfloat16", 200, 0.95);
    expect(sizeOf(halved.state)).toBe(sizeOf(exact.state) / 2);
    expect(mean(exact.weights)).toBeGreaterThan(0.9);
    expect(Math.abs(mean(halved.weights) - mean(exact.weights))).toBeLessThan(2e-3);
  });
  it("add up changes that are too small for their digits", () => {
    const { state } = run("bfloat16", 400, 0.999);
    const exact = run("float32", 400, 0.999).state;
    const expected = mean(momentValues(exact.secondMoment.get("w")!));
    const found = mean(momentValues(state.secondMoment.get("w")!));
    expect(Math.abs(found / expected - 1)).toBeLessThan(0.02);
  });
  it("are the same each time, and go on from what was saved", () => {
    const first = run("bfloat16", 20, 0.95);
    expect(run("bfloat16", 20, 0.95)).toEqual(first);
    const moments = first.state.firstMoment.get("w")!;
    const copy = zeroMoments(moments.length, "bfloat16");
    setMoments(copy, momentValues(moments));
    expect(copy).toEqual(moments);
  });
});

describe("adamStep", () => {
  it("moves each weight by the learning rate on the first step, against its gradient", () => {
    const w = weights();
    const optim = { ...defaultOptim, learningRate: 0.1, maxGradNorm: 0 };
    adamStep(parameters, w, gradients([3, -0.5], 0), createAdamState(parameters), optim);
    // m / (1 - b1) = g, sqrt(v / (1 - b2)) = |g|
    expect(w.get("w")![0]).toBeCloseTo(0.9, 6);
    expect(w.get("w")![1]).toBeCloseTo(-1.9, 6);
    expect(w.get("norm")![0]).toBe(1);
  });

  it("follows torch.optim.AdamW over three steps", () => {
    // torch 2: lr 0.1, betas (0.9, 0.95), eps 1e-8, weight_decay 0.1, w0 = 1, gradients 1, 2, -1:
    // by hand: m 0.1, 0.29, 0.161; v 0.05, 0.2475, 0.285125
    const only = [{ name: "w", shape: [1], decay: true }];
    const w = new Map([["w", Float32Array.of(1)]]);
    const state = createAdamState(only);
    const optim = { ...defaultOptim, learningRate: 0.1, weightDecay: 0.1, maxGradNorm: 0 };
    let expected = 1;
    let m = 0;
    let v = 0;
    for (const [i, g] of [1, 2, -1].entries()) {
      adamStep(only, w, new Map([["w", Float32Array.of(g)]]), state, optim);
      m = 0.9 * m + 0.1 * g;
      v = 0.95 * v + 0.05 * g * g;
      expected *= 1 - 0.1 * 0.1;
      expected -=
        (0.1 * (m / (1 - 0.9 ** (i + 1)))) / (Math.sqrt(v / (1 - 0.95 ** (i + 1))) + 1e-8);
    }
    expect(m).toBeCloseTo(0.161, 12);
    expect(v).toBeCloseTo(0.285125, 12);
    expect(w.get("w")![0]).toBeCloseTo(expected, 6);
    expect(state.step).toBe(3);
  });

  it("decays matrices only, decoupled from the gradient", () => {
    const w = weights();
    const optim = { ...defaultOptim, learningRate: 0.1, weightDecay: 0.5, maxGradNorm: 0 };
    adamStep(parameters, w, gradients([0, 0], 0), createAdamState(parameters), optim);
    expect([...w.get("w")!]).toEqual([Math.fround(0.95), Math.fround(-1.9)]);
    expect(w.get("norm")![0]).toBe(1);
  });

  it("returns the norm before clipping, and clips the moments' input", () => {
    const state = createAdamState(parameters);
    const optim = { ...defaultOptim, maxGradNorm: 1 };
    expect(adamStep(parameters, weights(), gradients([3, 0], 4), state, optim)).toBe(5);
    expect(state.firstMoment.get("w")![0]).toBeCloseTo(0.1 * (3 / 5), 7);
  });

  it("leaves weights and moments alone when a gradient is not finite, and names it", () => {
    const w = weights();
    const state = createAdamState(parameters);
    expect(() => adamStep(parameters, w, gradients([1, 1], NaN), state, defaultOptim)).toThrow(
      "norm",
    );
    expect([...w.get("w")!]).toEqual([1, -2]);
    expect(state.step).toBe(0);
  });
});
