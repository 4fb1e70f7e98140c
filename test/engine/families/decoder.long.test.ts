/** The decoder on native kernels against transformers and PEFT, for every family. */
import { describe, expect, it } from "vitest";
import { readSafetensors } from "../../../src/engine/checkpoint/safetensors.ts";
import { loadPolicy, writeTrained, type Policy } from "../../../src/engine/decoder/policy.ts";
import { PolicyTrainer } from "../../../src/engine/training/trainer.ts";
import { Device } from "../../../src/engine/tensor/device.ts";
import type { Precision } from "../../../src/engine/tensor/matrix.ts";
import { rowOf } from "../small-model.ts";
import {
  familyFixture,
  familyNames,
  gradientDistance,
  type FamilyFixture,
} from "./family-fixtures.ts";

const loss = {
  name: "importance_sampling",
  epsClip: 0,
  epsClipHigh: 0,
  aggregation: "token-sum",
} as const;

async function load(
  fixture: FamilyFixture,
  adapted: boolean,
  { threads = 1, precision = "f32" }: { threads?: number; precision?: Precision } = {},
): Promise<Policy> {
  const lora = adapted ? fixture.lora : null;
  const device = new Device({ threads });
  const policy = await loadPolicy(fixture.folder, { device, lora, seed: 1, precision });
  if (adapted) {
    const file = `${fixture.adapterFolder}/adapter_model.safetensors`;
    for (const [key, { data }] of await readSafetensors(file)) policy.data.get(key)!.set(data);
    await writeTrained(policy, policy.weights);
  }
  return policy;
}

/** Log-probabilities of the fixture's sequences, then the gradient of their sum with its coefficients. */
async function measure(policy: Policy, { sequences }: FamilyFixture, memoryMiB = 100) {
  const trainer = new PolicyTrainer(policy, { memoryMiB });
  const rows = sequences.map(({ tokens, coefficients }) => ({
    ...rowOf(Int32Array.from(tokens), 1),
    advantages: Float32Array.of(0, ...coefficients),
  }));
  const logprobs = await trainer.forward(rows);
  // The policy gradient at a ratio of 1 is that of coefficients times log-probabilities.
  for (const [i, row] of rows.entries()) row.samplingLogprobs.set(logprobs[i]!);
  await trainer.forwardBackward(rows, loss);
  const gradients = new Map(
    Array.from(trainer.accumulatedGradients, ([name, data]) => [name, data.map((x) => -x)]),
  );
  return { logprobs, gradients };
}

describe.each(familyNames)("%s", (name) => {
  const fixture = familyFixture(name);

  it.each([false, true])(
    "has the numbers of transformers and PEFT; adapted: %s",
    async (adapted) => {
      const expected = adapted ? fixture.adapted : fixture.base;
      const { logprobs, gradients } = await measure(await load(fixture, adapted), fixture);
      for (const [i, theirs] of expected.logprobs.entries())
        for (const [t, value] of theirs.entries())
          expect(logprobs[i]![t + 1]!).toBeCloseTo(value, 4);
      expect([...gradients.keys()].toSorted()).toEqual(Object.keys(expected.gradients).toSorted());
      for (const [parameter, theirs] of Object.entries(expected.gradients))
        expect(gradientDistance(gradients.get(parameter)!, theirs), parameter).toBeLessThan(1e-4);
    },
  );

  it("has the same bits for any number of threads, and where layers are recomputed", async () => {
    const plain = await measure(await load(fixture, true), fixture);
    expect(await measure(await load(fixture, true, { threads: 2 }), fixture)).toEqual(plain);
    const recomputed = await measure(await load(fixture, true), fixture, 0);
    expect(recomputed.logprobs).toEqual(plain.logprobs);
  });

  it("differs in bf16 no more than transformers does", async () => {
    const { logprobs } = await measure(await load(fixture, false, { precision: "bf16" }), fixture);
    const differences = fixture.base.logprobs.flatMap((theirs, i) =>
      theirs.map((value, t) => Math.abs(logprobs[i]![t + 1]! - value)),
    );
    const mean = differences.reduce((sum, value) => sum + value, 0) / differences.length;
    expect(mean).toBeGreaterThan(0);
    expect(mean).toBeLessThan(fixture.bfloat16.all.mean * 1.2);
  });
});
