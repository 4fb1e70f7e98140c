/** The optimizer of a served adapter, against worked values of AdamW as Tinker describes it. */
import { expect, it } from "vitest";
import { defaultOptim } from "../../src/core/loss/loss.ts";
import { Adapter, type AdapterPolicy } from "../../src/tinker-server/model/adapter.ts";

/** An adapter with one matrix of these weights. */
function adapterOf(weights: Float32Array): Adapter {
  const parameters = [{ name: "w", shape: [weights.length], decay: true }];
  const policy = {
    trained: parameters,
    loraParameters: parameters,
    data: new Map([["w", weights]]),
  };
  const spec = { rank: 1, seed: 0, trainAttention: true, trainMlp: true };
  return new Adapter(spec, policy as unknown as AdapterPolicy);
}

const tinkerOptim = { ...defaultOptim, learningRate: 0.1, maxGradNorm: 0 };

it.each([
  [{ eps: 1e-8, weightDecay: 0.01 }, [0.899000002, 0.863221345, 0.823636907]],
  [{ eps: 1e-12, weightDecay: 0 }, [0.9, 0.865120342, 0.826399124]],
])("follows AdamW with %o over three steps", (options, expected) => {
  const weights = Float32Array.of(1);
  const adapter = adapterOf(weights);
  for (const [i, gradient] of [0.5, -0.2, 0.1].entries()) {
    adapter.accumulate(new Map([["w", Float32Array.of(gradient)]]));
    adapter.step({ ...tinkerOptim, ...options });
    expect(Math.abs(weights[0]! - expected[i]!)).toBeLessThan(1e-6);
  }
});

it("clips to the global norm, and tells the norm before", () => {
  // Gradients 3 and 4 have the norm 5; at norm 1 they are 0.6 and 0.8.
  const adapter = adapterOf(Float32Array.of(0, 0));
  adapter.accumulate(new Map([["w", Float32Array.of(1, 1.5)]]));
  adapter.accumulate(new Map([["w", Float32Array.of(2, 2.5)]]));
  expect(adapter.step({ ...tinkerOptim, maxGradNorm: 1 })).toBeCloseTo(5, 6);
  const moments = adapter.adam.firstMoment.get("w")!;
  expect(moments[0]! / 0.1).toBeCloseTo(0.6, 6);
  expect(moments[1]! / 0.1).toBeCloseTo(0.8, 6);
});
