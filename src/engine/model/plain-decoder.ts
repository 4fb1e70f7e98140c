/** The decoders that can be built as graphs: Llama, Mistral without a window, Qwen2, Qwen3. */
import { ModelError } from "../../core/errors.ts";
import type { ModelConfig } from "./model-config.ts";
import type { RopeTable } from "./rope.ts";

/** What a graph has no operations for; null when there is nothing. */
function missing(config: ModelConfig): string | null {
  const [first] = config.layerKinds;
  const { norms } = config;
  if (config.layerKinds.some(({ rope }) => rope !== first?.rope || rope === null))
    return "position encodings that differ between layers";
  if (config.layerKinds.some(({ window }) => window !== null)) return "sliding windows";
  const { frequencies, attentionFactor } = first!.rope!;
  if (frequencies.length * 2 !== config.headSize || attentionFactor !== 1)
    return "partial or long rotary encoding";
  if (norms.beforeAttention === null || norms.afterAttention !== null)
    return "norms after attention";
  if (config.queryKeyNorm === "width") return "norms over all heads";
  if (config.fusedProjections) return "fused projections";
  if (config.activation !== "silu") return "GELU";
  return null;
}

/** @throws ModelError for a model that the engine can describe, but not yet compute. */
export function requirePlainDecoder(config: ModelConfig, path: string): void {
  const what = missing(config);
  if (what === null) return;
  throw new ModelError({
    message: `${path}: a model with ${what} can be inspected and exported, but not yet computed.`,
    hint: "Use a Llama, Qwen2, Qwen2.5 or Qwen3 model.",
    fields: { path },
  });
}

/** The one encoding of all of its layers. */
export function plainRope(config: ModelConfig): RopeTable {
  return config.layerKinds[0]!.rope!;
}
