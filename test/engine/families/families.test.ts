/** Every family of models against transformers and PEFT: configurations, parameters, position encodings; numbers of those that are computed. */
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openModelSource } from "../../../src/engine/checkpoint/open-model-source.ts";
import { readSafetensors } from "../../../src/engine/checkpoint/safetensors.ts";
import { fitSource } from "../../../src/engine/model/fit-source.ts";
import { loraParameters } from "../../../src/engine/model/parameters.ts";
import { loadPolicyModel, type PolicyModel } from "../../../src/engine/model/policy-model.ts";
import { PolicyTrainer } from "../../../src/engine/training/policy-trainer.ts";
import { rowOf } from "../small-model.ts";
import {
  familyFixture,
  familyNames,
  gradientDistance,
  type FamilyFixture,
} from "./family-fixtures.ts";

describe.each(familyNames)("%s", (name) => {
  const fixture = familyFixture(name);

  it("has the parameters that transformers and PEFT saved, and no others", async () => {
    const source = await openModelSource(fixture.folder);
    const { config, base } = fitSource(source);
    expect(base.map((spec) => spec.name).toSorted()).toEqual([...source.tensors.keys()].toSorted());
    const saved = await readSafetensors(`${fixture.adapterFolder}/adapter_model.safetensors`);
    const factors = loraParameters(config, fixture.lora);
    expect(Object.fromEntries(factors.map((spec) => [spec.name, spec.shape]))).toEqual(
      Object.fromEntries(Array.from(saved, ([key, { shape }]) => [key, shape])),
    );
  });

  it("turns positions as transformers does", async () => {
    const source = await openModelSource(fixture.folder);
    const { layerKinds } = fitSource(source).config;
    let compared = 0;
    for (const [layer, { rope }] of layerKinds.entries()) {
      if (rope === null) continue;
      const types = source.config["layer_types"] as readonly string[] | undefined;
      const expected = fixture.rope[types?.[layer] ?? ""] ?? fixture.rope["full_attention"]!;
      expect(rope.frequencies).toHaveLength(expected.frequencies.length);
      for (const [i, frequency] of rope.frequencies.entries()) {
        expect(frequency / expected.frequencies[i]!).toBeCloseTo(1, 6);
        for (const [row, position] of expected.positions.entries()) {
          const angle = position * frequency;
          expect(rope.attentionFactor * Math.cos(angle)).toBeCloseTo(expected.cos[row]![i]!, 5);
          expect(rope.attentionFactor * Math.sin(angle)).toBeCloseTo(expected.sin[row]![i]!, 5);
          compared += 1;
        }
      }
    }
    expect(compared).toBeGreaterThan(0);
  });
});

const computed = ["llama", "qwen2", "qwen3"];

async function compare(
  policy: PolicyModel,
  { sequences }: FamilyFixture,
  { logprobs, gradients }: FamilyFixture["base"],
): Promise<void> {
  const trainer = new PolicyTrainer(policy, { threads: 1, memoryMiB: 100 });
  const rows = sequences.map(({ tokens, coefficients }) => ({
    ...rowOf(Int32Array.from(tokens), 1),
    advantages: Float32Array.of(0, ...coefficients),
  }));
  const ours = await trainer.forward(rows);
  for (const [i, theirs] of logprobs.entries())
    for (const [t, value] of theirs.entries()) expect(ours[i]![t + 1]!).toBeCloseTo(value, 4);
  // The policy gradient at a ratio of 1 is that of coefficients times log-probabilities.
  for (const [i, row] of rows.entries()) row.samplingLogprobs.set(ours[i]!);
  const loss = {
    name: "importance_sampling",
    epsClip: 0,
    epsClipHigh: 0,
    aggregation: "token-sum",
  } as const;
  await trainer.forwardBackward(rows, loss);
  for (const [name, expected] of Object.entries(gradients)) {
    const gradient = trainer.accumulatedGradients.get(name)!.map((value) => -value);
    expect(gradientDistance(gradient, expected), name).toBeLessThan(1e-4);
  }
  await trainer.close();
}

describe("numbers of transformers and PEFT", () => {
  it.each(computed)("%s, every weight trained", async (name) => {
    const fixture = familyFixture(name);
    const policy = await loadPolicyModel(fixture.folder, { lora: null, seed: 1 });
    await compare(policy, fixture, fixture.base);
  });

  it.each(computed)("%s, an adapter trained", async (name) => {
    const fixture = familyFixture(name);
    const policy = await loadPolicyModel(fixture.folder, { lora: fixture.lora, seed: 1 });
    const file = `${fixture.adapterFolder}/adapter_model.safetensors`;
    for (const [key, { data }] of await readSafetensors(file)) policy.data.get(key)!.set(data);
    await compare(policy, fixture, fixture.adapted);
  });

  it("mistral, without its window, where no sequence leaves it", async () => {
    const { folder, sequences, base } = familyFixture("mistral");
    const copy = await mkdtemp(join(tmpdir(), "mistral-"));
    const config = JSON.parse(await readFile(join(folder, "config.json"), "utf8")) as object;
    await writeFile(join(copy, "config.json"), JSON.stringify({ ...config, sliding_window: null }));
    await copyFile(join(folder, "model.safetensors"), join(copy, "model.safetensors"));
    const policy = await loadPolicyModel(copy, { lora: null, seed: 1 });
    const trainer = new PolicyTrainer(policy, { threads: 1, memoryMiB: 100 });
    let compared = 0;
    for (const [i, { tokens }] of sequences.entries()) {
      if (tokens.length > 9) continue;
      const [ours] = await trainer.forward([rowOf(Int32Array.from(tokens), 1)]);
      for (const [t, value] of base.logprobs[i]!.entries()) {
        expect(ours![t + 1]!).toBeCloseTo(value, 4);
        compared += 1;
      }
    }
    expect(compared).toBe(9);
    await trainer.close();
    await rm(copy, { recursive: true });
  });

  it.each(familyNames.filter((name) => !computed.includes(name)))(
    "%s is refused by name of what is missing",
    async (name) => {
      const { folder } = familyFixture(name);
      await expect(loadPolicyModel(folder, { lora: null, seed: 1 })).rejects.toThrow(
        /a model with .+ can be inspected and exported, but not yet computed/u,
      );
    },
  );
});
