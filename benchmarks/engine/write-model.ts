/** Child: writes a model with random weights as a Hugging Face folder of 32-bit floats. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { encodeSafetensors } from "../../src/engine/checkpoint/safetensors.ts";
import { parseModelConfig } from "../../src/engine/model/parse-config.ts";
import { baseParameters } from "../../src/engine/model/parameters.ts";
import { randomWeights } from "../../src/engine/model/random-weights.ts";
import { answer } from "../harness/child-side.ts";

interface WriteInput {
  readonly folder: string;
  /** What goes into `config.json`. */
  readonly config: object;
}

answer(async ({ folder, config }: WriteInput) => {
  const shape = parseModelConfig(config, "config.json");
  const weights = randomWeights(shape, 1);
  const tensors = new Map(
    baseParameters(shape).map((spec) => [
      spec.name,
      { shape: spec.shape, data: weights.get(spec.name)! },
    ]),
  );
  await writeFile(join(folder, "model.safetensors"), encodeSafetensors(tensors));
  await writeFile(join(folder, "config.json"), JSON.stringify(config));
  return {};
});
