/** The parts of a model that an adapter covers, as servers of the protocol take them. */
import type { LoraSpec } from "../../core/backend.ts";
import { backendsThat } from "../../core/capabilities.ts";
import { UnsupportedOptionError } from "../../core/errors.ts";
import { loraGroupOf } from "../../core/lora.ts";

/** Which parts; empty for the server's defaults. */
export interface AdapterParts {
  readonly trainAttention?: boolean;
  readonly trainMlp?: boolean;
  readonly trainUnembed?: boolean;
}

/**
 * Of no adapter, the defaults too.
 * @throws UnsupportedOptionError for single layers, which these APIs have no field for.
 */
export function partsOf(lora: LoraSpec | null, backend: string): AdapterParts {
  const targets = lora?.targets;
  const group = loraGroupOf(targets);
  if (group === "all") return {};
  if (group === null) {
    const others = backendsThat(({ loraTargets }) => loraTargets === "layers");
    throw new UnsupportedOptionError("model.lora_targets", targets, backend, others);
  }
  const isAttention = group === "attention";
  return { trainAttention: isAttention, trainMlp: !isAttention, trainUnembed: false };
}
