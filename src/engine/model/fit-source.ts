/** Checks a model on disk against its configuration. */
import { ModelError } from "../../core/errors.ts";
import type { ModelSource } from "../checkpoint/model-source.ts";
import type { ModelConfig } from "./model-config.ts";
import { parseModelConfig } from "./parse-config.ts";
import { baseParameters, type ParameterSpec } from "./parameters.ts";

/**
 * The model's shape and its parameters; additional tensors are ignored.
 * @throws ModelError when the architecture is not supported, or a tensor is missing or of another shape.
 */
export function fitSource(source: ModelSource): {
  readonly config: ModelConfig;
  readonly base: readonly ParameterSpec[];
} {
  const config = parseModelConfig(source.config, source.configFile);
  const base = baseParameters(config);
  for (const { name, shape } of base) {
    const found = source.tensors.get(name)?.shape;
    if (found !== undefined && found.join() === shape.join()) continue;
    const what = found === undefined ? "is missing" : `has shape [${found.join()}]`;
    throw new ModelError({
      message: `${source.path}: "${name}" ${what}, but its configuration requires [${shape.join()}].`,
      fields: { path: source.path, name },
    });
  }
  return { config, base };
}
