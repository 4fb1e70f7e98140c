/** Names and shapes of a model's parameters, as Hugging Face and PEFT name them. */
import type { LoraSpec } from "../../core/backend.ts";
import { loraLayers } from "../../core/lora.ts";
import type { ModelConfig } from "./model-config.ts";

export interface ParameterSpec {
  readonly name: string;
  readonly shape: readonly number[];
  /** Decoupled weight decay applies to matrices, not to norms. */
  readonly decay: boolean;
}

export const embeddingName = "model.embed_tokens.weight";
export const headName = "lm_head.weight";
export const finalNormName = "model.norm.weight";

export function layerName(layer: number, part: string): string {
  return `model.layers.${layer}.${part}.weight`;
}

/** The bias of a weight, where a model has one. */
export function biasName(weightName: string): string {
  return weightName.replace(/weight$/, "bias");
}

/** Every weight of the base model. Matrices are [out, in]. */
export function baseParameters(config: ModelConfig): readonly ParameterSpec[] {
  const { hiddenSize: h, ffnSize: f, vocabSize: v, headSize } = config;
  const q = config.heads * headSize;
  const kv = config.kvHeads * headSize;
  const specs: ParameterSpec[] = [];
  const matrix = (name: string, ...shape: number[]): void => {
    specs.push({ name, shape, decay: true });
  };
  const vector = (name: string, size: number): void => {
    specs.push({ name, shape: [size], decay: false });
  };
  const norm = (name: string): void => vector(name, h);
  matrix(embeddingName, v, h);
  for (let layer = 0; layer < config.layers; layer++) {
    norm(layerName(layer, "input_layernorm"));
    matrix(layerName(layer, "self_attn.q_proj"), q, h);
    matrix(layerName(layer, "self_attn.k_proj"), kv, h);
    matrix(layerName(layer, "self_attn.v_proj"), kv, h);
    matrix(layerName(layer, "self_attn.o_proj"), h, q);
    if (config.attentionBias) {
      vector(biasName(layerName(layer, "self_attn.q_proj")), q);
      vector(biasName(layerName(layer, "self_attn.k_proj")), kv);
      vector(biasName(layerName(layer, "self_attn.v_proj")), kv);
    }
    if (config.queryKeyNorm) {
      vector(layerName(layer, "self_attn.q_norm"), headSize);
      vector(layerName(layer, "self_attn.k_norm"), headSize);
    }
    norm(layerName(layer, "post_attention_layernorm"));
    matrix(layerName(layer, "mlp.gate_proj"), f, h);
    matrix(layerName(layer, "mlp.up_proj"), f, h);
    matrix(layerName(layer, "mlp.down_proj"), h, f);
  }
  norm(finalNormName);
  if (!config.tiedEmbeddings) matrix(headName, v, h);
  return specs;
}

/** PEFT's names of the two factors of the update of `weightName`. */
export function loraNames(weightName: string): { readonly a: string; readonly b: string } {
  const module = `base_model.model.${weightName.replace(/\.weight$/, "")}`;
  return { a: `${module}.lora_A.weight`, b: `${module}.lora_B.weight` };
}

/** By default all linear layers of the blocks are adapted, as QLoRA (arXiv:2305.14314) recommends. */
export function isAdapted(name: string, lora: LoraSpec | null = null): boolean {
  return (lora?.targets ?? loraLayers).some((layer) => name.endsWith(`.${layer}.weight`));
}

/** The factors A [rank, in] and B [out, rank] of every adapted matrix. */
export function loraParameters(config: ModelConfig, lora: LoraSpec): readonly ParameterSpec[] {
  return baseParameters(config)
    .filter(({ name }) => isAdapted(name, lora))
    .flatMap(({ name, shape }) => {
      const { a, b } = loraNames(name);
      const [out, input] = shape as [number, number];
      return [
        { name: a, shape: [lora.rank, input], decay: true },
        { name: b, shape: [out, lora.rank], decay: true },
      ];
    });
}
