/** A Llama-type decoder's shape, read from a Hugging Face `config.json`. */
import { ModelError } from "../../core/errors.ts";
import { ropeFrequencies } from "./rope.ts";

export interface ModelConfig {
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly layers: number;
  readonly heads: number;
  /** Key/value heads; `heads` is a multiple of it (grouped-query attention). */
  readonly kvHeads: number;
  readonly headSize: number;
  readonly ffnSize: number;
  readonly normEpsilon: number;
  /** Rotation angle per position of each pair, [headSize / 2]. */
  readonly ropeFrequencies: readonly number[];
  /** Maximum sequence length: the model's own limit, at most `maxContextLength`. */
  readonly contextLength: number;
  /** The output matrix is the embedding table. */
  readonly tiedEmbeddings: boolean;
  /** Query, key and value projections add a bias (Qwen2). */
  readonly attentionBias: boolean;
  /** Queries and keys are normalized per head before rotation (Qwen3). */
  readonly queryKeyNorm: boolean;
}

const architectures: Readonly<Record<string, Pick<ModelConfig, "attentionBias" | "queryKeyNorm">>> =
  {
    LlamaForCausalLM: { attentionBias: false, queryKeyNorm: false },
    Qwen2ForCausalLM: { attentionBias: true, queryKeyNorm: false },
    Qwen3ForCausalLM: { attentionBias: false, queryKeyNorm: true },
  };

/** The rotary tables are part of the graph; longer ones would cost more than they are worth on a CPU. */
export const maxContextLength = 16_384;

/**
 * Far beyond any model that this engine could run; anything larger is a mistake, and would otherwise be
 * built.
 */
const most = {
  vocab_size: 2 ** 22,
  hidden_size: 2 ** 17,
  num_hidden_layers: 1024,
  num_attention_heads: 4096,
  num_key_value_heads: 4096,
  head_dim: 4096,
  intermediate_size: 2 ** 20,
  max_position_embeddings: Number.MAX_SAFE_INTEGER,
} as const;

/** @throws ModelError naming what is missing or not supported. */
export function parseModelConfig(json: unknown, source: string): ModelConfig {
  const raw = (json ?? {}) as Readonly<Record<string, unknown>>;
  const refuse = (what: string): never => {
    throw new ModelError({ message: `${source}: ${what}.`, fields: { source } });
  };
  const name = Array.isArray(raw["architectures"]) ? String(raw["architectures"][0]) : "none";
  const architecture = Object.hasOwn(architectures, name) ? architectures[name] : undefined;
  if (architecture === undefined) {
    const supported = Object.keys(architectures).join(", ");
    return refuse(`architecture "${name}" is not supported; supported: ${supported}`);
  }
  const integer = (key: keyof typeof most, fallback?: number): number => {
    const value = raw[key] ?? fallback;
    if (typeof value !== "number" || !Number.isInteger(value) || value < 1) {
      return refuse(`"${key}" is ${JSON.stringify(value)}, but must be a positive integer`);
    }
    if (value > most[key])
      refuse(`"${key}" is ${value}, but ${most[key]} is the most there can be`);
    return value;
  };
  const epsilon = raw["rms_norm_eps"] ?? 1e-6;
  if (typeof epsilon !== "number" || epsilon <= 0)
    refuse(`"rms_norm_eps" is ${JSON.stringify(epsilon)}`);
  if (raw["hidden_act"] !== undefined && raw["hidden_act"] !== "silu") {
    refuse(`"hidden_act" is ${JSON.stringify(raw["hidden_act"])}; supported: "silu"`);
  }
  for (const key of ["attention_bias", "mlp_bias", "use_sliding_window"]) {
    if (raw[key] === true) refuse(`"${key}" is not supported`);
  }
  const hiddenSize = integer("hidden_size");
  const heads = integer("num_attention_heads");
  const kvHeads = integer("num_key_value_heads", heads);
  const headSize = integer("head_dim", hiddenSize / heads);
  if (heads % kvHeads !== 0)
    refuse(`${heads} heads cannot share ${kvHeads} key/value heads evenly`);
  if (headSize % 2 !== 0) refuse(`"head_dim" is ${headSize}, but must be even`);
  return {
    ...architecture,
    vocabSize: integer("vocab_size"),
    hiddenSize,
    layers: integer("num_hidden_layers"),
    heads,
    kvHeads,
    headSize,
    ffnSize: integer("intermediate_size"),
    normEpsilon: epsilon as number,
    ropeFrequencies: ropeFrequencies(raw, headSize, refuse),
    contextLength: Math.min(integer("max_position_embeddings"), maxContextLength),
    tiedEmbeddings: raw["tie_word_embeddings"] === true,
  };
}

/** Bytes of one token's keys and values in all layers. */
export function cacheBytesPerToken({ layers, kvHeads, headSize }: ModelConfig): number {
  return 2 * layers * kvHeads * headSize * Float32Array.BYTES_PER_ELEMENT;
}
