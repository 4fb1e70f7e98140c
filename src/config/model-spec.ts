/** The options of the trained model in the form that backends take. */
import type { ModelSpec } from "../core/backend.ts";
import { loraGroupOf, loraTargetsOf } from "../core/lora.ts";
import { adapterNames } from "./adapter-map.ts";
import type { TrainConfig } from "./train-config.ts";

/** The options of `model`, as a backend takes them. */
export function modelSpecOf(model: TrainConfig["model"]): ModelSpec {
  const { name, loraRank: rank, loraAlpha: alpha, loraTargets, quantization } = model;
  if (rank === 0) return { name, lora: null, quantization };
  const targets = loraTargetsOf(loraTargets);
  const lora = { rank, alpha, ...(loraGroupOf(targets) === "all" ? {} : { targets }) };
  const adapters = adapterNames(model.adapterByRole);
  return { name, lora, quantization, ...(adapters.length === 0 ? {} : { adapters }) };
}
