/** A LoRA adapter of random factors that changes what a model says. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openModelSource } from "../../../src/engine/checkpoint/open-model-source.ts";
import { encodeSafetensors, type NamedTensor } from "../../../src/engine/checkpoint/safetensors.ts";
import { isAdapted } from "../../../src/engine/model/parameters.ts";
import { createRandom } from "../../../src/util/random.ts";

const rank = 8;

/** Factors of every linear layer, as PEFT stores them. @param scale of the second of each pair. */
export async function writeRandomAdapter(model: string, into: string, scale = 1): Promise<string> {
  const random = createRandom(5);
  const filled = (shape: readonly number[], width: number): NamedTensor => ({
    shape,
    data: Float32Array.from({ length: shape[0]! * shape[1]! }, () => width * (random() - 0.5)),
  });
  const factors = new Map<string, NamedTensor>();
  for (const [name, { shape }] of (await openModelSource(model)).tensors) {
    if (!isAdapted(name)) continue;
    const module = `base_model.model.${name.replace(/\.weight$/u, "")}`;
    factors.set(`${module}.lora_A.weight`, filled([rank, shape[1]!], 0.1));
    factors.set(`${module}.lora_B.weight`, filled([shape[0]!, rank], 0.05 * scale));
  }
  mkdirSync(into);
  writeFileSync(join(into, "adapter_model.safetensors"), encodeSafetensors(factors));
  const config = { peft_type: "LORA", r: rank, lora_alpha: 16, base_model_name_or_path: model };
  writeFileSync(join(into, "adapter_config.json"), JSON.stringify(config));
  return into;
}
