/** The shape of a decoder from a Hugging Face `config.json`. */
import { ModelError } from "../../core/errors.ts";
import { families } from "./families.ts";
import { readLayerKinds } from "./layer-kinds.ts";
import { maxContextLength, type ModelConfig } from "./model-config.ts";

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
  query_pre_attn_scalar: 2 ** 20,
} as const;

/** Settings that change what a model computes; fine where they are absent, null or false. */
const unsupported = [
  "attention_bias",
  "mlp_bias",
  "final_logit_softcapping",
  "attn_logit_softcapping",
  "use_bidirectional_attention",
];

/** @throws ModelError naming what is missing or not supported. */
export function parseModelConfig(json: unknown, source: string): ModelConfig {
  const raw = (json ?? {}) as Readonly<Record<string, unknown>>;
  const refuse = (what: string): never => {
    throw new ModelError({ message: `${source}: ${what}.`, fields: { source } });
  };
  const name = Array.isArray(raw["architectures"]) ? String(raw["architectures"][0]) : "none";
  const family = Object.hasOwn(families, name) ? families[name] : undefined;
  if (family === undefined) {
    if (name === "Gemma3ForConditionalGeneration") {
      refuse(
        `architecture "${name}" reads images, which is not supported; its text models are "Gemma3ForCausalLM" (270m, 1b)`,
      );
    }
    const supported = Object.keys(families).join(", ");
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
  const [activationKey, activation] =
    family.activation === "silu"
      ? ["hidden_act", "silu"]
      : ["hidden_activation", "gelu_pytorch_tanh"];
  if ((raw[activationKey] ?? activation) !== activation) {
    refuse(
      `"${activationKey}" is ${JSON.stringify(raw[activationKey])}; supported: "${activation}"`,
    );
  }
  for (const key of unsupported) {
    if (![undefined, null, false].includes(raw[key] as null)) refuse(`"${key}" is not supported`);
  }
  const hiddenSize = integer("hidden_size");
  const heads = integer("num_attention_heads");
  const kvHeads = integer("num_key_value_heads", heads);
  const headSize = integer("head_dim", hiddenSize / heads);
  if (heads % kvHeads !== 0)
    refuse(`${heads} heads cannot share ${kvHeads} key/value heads evenly`);
  if (headSize % 2 !== 0) refuse(`"head_dim" is ${headSize}, but must be even`);
  const layers = integer("num_hidden_layers");
  const longest = Math.min(integer("max_position_embeddings"), maxContextLength);
  const { layerKinds, positions } = readLayerKinds(
    family,
    raw,
    { layers, headSize, longest },
    refuse,
  );
  return {
    vocabSize: integer("vocab_size"),
    hiddenSize,
    layers,
    heads,
    kvHeads,
    headSize,
    ffnSize: integer("intermediate_size"),
    normEpsilon: epsilon as number,
    layerKinds,
    norms: family.norms,
    normOffset: family.normOffset,
    queryKeyNorm: family.queryKeyNorm,
    attentionBias: family.attentionBias,
    attentionScale: integer("query_pre_attn_scalar", headSize) ** -0.5,
    activation: family.activation,
    embeddingScale: family.scaledEmbeddings ? Math.fround(Math.sqrt(hiddenSize)) : 1,
    fusedProjections: family.fusedProjections,
    contextLength: Math.min(longest, positions),
    tiedEmbeddings: (raw["tie_word_embeddings"] ?? family.defaults.tiedEmbeddings) === true,
  };
}
