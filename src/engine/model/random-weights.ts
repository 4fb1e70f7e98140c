/** Weights of a model that nothing has been taught: normal with deviation 0.02, residual outputs scaled down by depth (GPT-2). */
import { createNormal, createRandom, deriveSeed } from "../../util/random.ts";
import type { ModelConfig } from "./model-config.ts";
import { baseParameters } from "./parameters.ts";

/** By parameter; each derives from `seed` and its name. */
export function randomWeights(config: ModelConfig, seed: number): Map<string, Float32Array> {
  const weights = new Map<string, Float32Array>();
  for (const { name, shape, decay } of baseParameters(config)) {
    const residual = /(?:o_proj|down_proj)\.weight$/u.test(name);
    const deviation = residual ? 0.02 / Math.sqrt(2 * config.layers) : 0.02;
    const normal = createNormal(createRandom(deriveSeed(seed, name)));
    const values = new Float32Array(shape.reduce((n, dim) => n * dim, 1));
    if (decay) for (let i = 0; i < values.length; i++) values[i] = normal() * deviation;
    else values.fill(name.endsWith(".bias") ? 0 : 1 - config.normOffset);
    weights.set(name, values);
  }
  return weights;
}
