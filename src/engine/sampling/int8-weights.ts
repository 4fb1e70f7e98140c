/** The frozen matrices of a policy as 8-bit integers, read one at a time. */
import { ConfigError } from "../../core/errors.ts";
import { readWeights } from "../checkpoint/model-weights.ts";
import { embeddingName, headName, isAdapted } from "../model/parameters.ts";
import type { PolicyModel } from "../model/policy-model.ts";
import { quantizeMatrix, type QuantizedMatrix } from "../model/quantized-matrix.ts";

async function* frozenMatrices(
  { data, mapped, mappedFolder }: PolicyModel,
  names: readonly string[],
): AsyncGenerator<readonly [string, Float32Array]> {
  if (mapped !== null && mappedFolder !== null) yield* readWeights(mappedFolder, mapped, names);
  else for (const name of names) yield [name, data.get(name)!];
}

/**
 * Every linear layer and the head, by name; norms, biases, the embedding's rows and LoRA factors stay
 * 32-bit floats.
 * @throws ConfigError when the base itself is trained: it would have to be quantized at every step.
 */
export async function quantizeFrozen(
  policy: PolicyModel,
): Promise<ReadonlyMap<string, QuantizedMatrix>> {
  if (policy.lora === null) {
    throw new ConfigError({
      message: "Sampling in int8 needs frozen weights, but every weight is trained.",
      hint: "Train a LoRA adapter (model.lora_rank), or sample in float32.",
      fields: { option: "local.sampling_precision", value: "int8" },
    });
  }
  const head = policy.config.tiedEmbeddings ? embeddingName : headName;
  const names = policy.base.flatMap(({ name }) => (isAdapted(name) || name === head ? [name] : []));
  const quantized = new Map<string, QuantizedMatrix>();
  for await (const [name, weights] of frozenMatrices(policy, names)) {
    const shape = policy.shapes.get(name) as readonly [number, number];
    quantized.set(name, quantizeMatrix(weights, shape));
  }
  return quantized;
}
