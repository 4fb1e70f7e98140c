/** A Llama-type decoder's shape, read from a Hugging Face `config.json`. */
import { ModelError } from "../../core/errors.ts";

export interface ModelConfig {
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly layers: number;
  readonly heads: number;
  /** Heads of keys and values; `heads` is a multiple of it (grouped-query attention). */
  readonly kvHeads: number;
  readonly headSize: number;
  readonly ffnSize: number;
  readonly normEpsilon: number;
  readonly ropeTheta: number;
  /** Longest sequence. */
  readonly contextLength: number;
  /** The output matrix is the embedding table. */
  readonly tiedEmbeddings: boolean;
}

/** @throws ModelError naming what is missing or not supported. */
export function parseModelConfig(json: unknown, source: string): ModelConfig {
  const raw = json as Readonly<Record<string, unknown>>;
  const refuse = (what: string): never => {
    throw new ModelError({ message: `${source}: ${what}.`, fields: { source } });
  };
  const architecture = Array.isArray(raw["architectures"])
    ? String(raw["architectures"][0])
    : "none";
  if (architecture !== "LlamaForCausalLM") {
    refuse(`architecture "${architecture}" is not supported; supported: LlamaForCausalLM`);
  }
  const integer = (key: string, fallback?: number): number => {
    const value = raw[key] ?? fallback;
    if (typeof value !== "number" || !Number.isInteger(value) || value < 1) {
      return refuse(`"${key}" is ${JSON.stringify(value)}, but must be a positive integer`);
    }
    return value;
  };
  const number = (key: string, fallback: number): number => {
    const value = raw[key] ?? fallback;
    return typeof value === "number" && value > 0
      ? value
      : refuse(`"${key}" is ${JSON.stringify(value)}`);
  };
  if (raw["hidden_act"] !== undefined && raw["hidden_act"] !== "silu") {
    refuse(`"hidden_act" is ${JSON.stringify(raw["hidden_act"])}; supported: "silu"`);
  }
  for (const key of ["attention_bias", "mlp_bias"]) {
    if (raw[key] === true) refuse(`"${key}" is not supported`);
  }
  const scaling = raw["rope_scaling"];
  if (scaling !== undefined && scaling !== null) refuse(`"rope_scaling" is not supported`);
  const hiddenSize = integer("hidden_size");
  const heads = integer("num_attention_heads");
  const kvHeads = integer("num_key_value_heads", heads);
  const headSize = integer("head_dim", hiddenSize / heads);
  if (heads % kvHeads !== 0)
    refuse(`${heads} heads cannot share ${kvHeads} key/value heads evenly`);
  if (headSize % 2 !== 0) refuse(`"head_dim" is ${headSize}, but must be even`);
  return {
    vocabSize: integer("vocab_size"),
    hiddenSize,
    layers: integer("num_hidden_layers"),
    heads,
    kvHeads,
    headSize,
    ffnSize: integer("intermediate_size"),
    normEpsilon: number("rms_norm_eps", 1e-6),
    ropeTheta: number("rope_theta", 10_000),
    contextLength: integer("max_position_embeddings"),
    tiedEmbeddings: raw["tie_word_embeddings"] === true,
  };
}
