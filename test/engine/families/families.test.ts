/** Every family of models against transformers and PEFT: configurations, parameters, position encodings. */
import { describe, expect, it } from "vitest";
import { openModelSource } from "../../../src/engine/checkpoint/open-model-source.ts";
import { readSafetensors } from "../../../src/engine/checkpoint/safetensors.ts";
import { fitSource } from "../../../src/engine/model/fit-source.ts";
import { loraParameters } from "../../../src/engine/model/parameters.ts";
import { familyFixture, familyNames } from "./family-fixtures.ts";

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
