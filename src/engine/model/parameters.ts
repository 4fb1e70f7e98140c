/** Names and shapes of a model's parameters, as Hugging Face and PEFT name them. */
import type { LoraSpec } from "../../core/backend.ts";
import { ConfigError } from "../../core/errors.ts";
import { loraLayers, type LoraTarget } from "../../core/lora.ts";
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

/** A linear layer and the widths of the outputs that it holds one after another. */
export interface Projection {
  readonly name: string;
  readonly widths: readonly number[];
}

/** Layers that are one matrix in some families, and what they consist of. */
const fused: Readonly<Record<string, readonly LoraTarget[]>> = {
  qkv_proj: ["q_proj", "k_proj", "v_proj"],
  gate_up_proj: ["gate_proj", "up_proj"],
};

/**
 * The linear layers whose outputs, in order, are queries, keys and values, or gate and up: one for all of
 * them, or one for each.
 */
export function projections(
  config: ModelConfig,
  layer: number,
): Readonly<Record<"queryKeyValue" | "gateUp", readonly Projection[]>> {
  const { heads, kvHeads, headSize, ffnSize, fusedProjections } = config;
  const of = (block: string, matrix: string, widths: readonly number[]): readonly Projection[] => {
    const name = (part: string): string => layerName(layer, `${block}.${part}`);
    return fusedProjections
      ? [{ name: name(matrix), widths }]
      : fused[matrix]!.map((part, i) => ({ name: name(part), widths: [widths[i]!] }));
  };
  const kv = kvHeads * headSize;
  return {
    queryKeyValue: of("self_attn", "qkv_proj", [heads * headSize, kv, kv]),
    gateUp: of("mlp", "gate_up_proj", [ffnSize, ffnSize]),
  };
}

/** Every weight of the base model. Matrices are [out, in]. */
export function baseParameters(config: ModelConfig): readonly ParameterSpec[] {
  const { hiddenSize: h, ffnSize: f, vocabSize: v, headSize, norms } = config;
  const q = config.heads * headSize;
  const specs: ParameterSpec[] = [];
  const matrix = (name: string, ...shape: number[]): void => {
    specs.push({ name, shape, decay: true });
  };
  const vector = (name: string, size: number): void => {
    specs.push({ name, shape: [size], decay: false });
  };
  const project = ({ name, widths }: Projection): void => matrix(name, sum(widths), h);
  matrix(embeddingName, v, h);
  for (let layer = 0; layer < config.layers; layer++) {
    const norm = (part: string | null): void => {
      if (part !== null) vector(layerName(layer, part), h);
    };
    const { queryKeyValue, gateUp } = projections(config, layer);
    norm(norms.beforeAttention);
    queryKeyValue.forEach(project);
    matrix(layerName(layer, "self_attn.o_proj"), h, q);
    if (config.attentionBias)
      for (const { name, widths } of queryKeyValue) vector(biasName(name), sum(widths));
    if (config.queryKeyNorm !== "none") {
      const each = config.queryKeyNorm === "head";
      vector(layerName(layer, "self_attn.q_norm"), each ? headSize : q);
      vector(layerName(layer, "self_attn.k_norm"), each ? headSize : config.kvHeads * headSize);
    }
    norm(norms.afterAttention);
    norm(norms.beforeFeedForward);
    gateUp.forEach(project);
    matrix(layerName(layer, "mlp.down_proj"), h, f);
    norm(norms.afterFeedForward);
  }
  vector(finalNormName, h);
  if (!config.tiedEmbeddings) matrix(headName, v, h);
  return specs;
}

function sum(widths: readonly number[]): number {
  return widths.reduce((total, width) => total + width, 0);
}

/** PEFT's names of the two factors of the update of `weightName`. */
export function loraNames(weightName: string): { readonly a: string; readonly b: string } {
  const module = `base_model.model.${weightName.replace(/\.weight$/, "")}`;
  return { a: `${module}.lora_A.weight`, b: `${module}.lora_B.weight` };
}

/** By default all linear layers of the blocks are adapted, as QLoRA (arXiv:2305.14314) recommends. */
export function isAdapted(name: string, lora: LoraSpec | null = null): boolean {
  const layer = /\.(\w+)\.weight$/u.exec(name)?.[1] ?? "";
  const targets: readonly string[] = lora?.targets ?? loraLayers;
  return (fused[layer] ?? [layer]).every((part) => targets.includes(part));
}

/** One matrix has one adapter: what it consists of is adapted together. @throws ConfigError */
function checkTargets(config: ModelConfig, { targets = loraLayers }: LoraSpec): void {
  if (!config.fusedProjections) return;
  for (const [matrix, parts] of Object.entries(fused)) {
    const named = parts.filter((part) => targets.includes(part));
    if (named.length === 0 || named.length === parts.length) continue;
    throw new ConfigError({
      message: `model.lora_targets names ${named.join(" and ")}, but this model has ${parts.join(", ")} as one matrix (${matrix}).`,
      hint: `Name all of ${parts.join(", ")}, or none.`,
      fields: { option: "model.lora_targets", value: targets },
    });
  }
}

/** The factors A [rank, in] and B [out, rank] of every adapted matrix. @throws ConfigError */
export function loraParameters(config: ModelConfig, lora: LoraSpec): readonly ParameterSpec[] {
  checkTargets(config, lora);
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
