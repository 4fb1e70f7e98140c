/** What the families of decoders differ in, by Hugging Face's name of the architecture. */
import type { ModelConfig } from "./model-config.ts";

type Raw = Readonly<Record<string, unknown>>;

/** What a layer's attention is like. */
interface LayerTraits {
  /** It sees only the window before a token, where the configuration has one. */
  readonly windowed: boolean;
  /** Which of the configuration's position encodings it has. */
  readonly rope: "global" | "local" | "none";
}

export interface Family extends Pick<
  ModelConfig,
  "norms" | "normOffset" | "queryKeyNorm" | "attentionBias" | "activation" | "fusedProjections"
> {
  readonly layer: (raw: Raw, layer: number) => LayerTraits;
  /** Where the configuration does not say. */
  readonly defaults: {
    readonly tiedEmbeddings: boolean;
    readonly theta: number;
    /** Null without a window. */
    readonly window: number | null;
  };
  /** Embeddings are multiplied by the root of the hidden size. */
  readonly scaledEmbeddings: boolean;
}

const llama: Family = {
  norms: {
    beforeAttention: "input_layernorm",
    afterAttention: null,
    beforeFeedForward: "post_attention_layernorm",
    afterFeedForward: null,
  },
  normOffset: 0,
  queryKeyNorm: "none",
  attentionBias: false,
  activation: "silu",
  fusedProjections: false,
  layer: () => ({ windowed: false, rope: "global" }),
  defaults: { tiedEmbeddings: false, theta: 10_000, window: null },
  scaledEmbeddings: false,
};

/** Whether `layer_types` gives a layer a window; `otherwise` where there is no such list. */
function isWindowed(raw: Raw, layer: number, otherwise: boolean): boolean {
  const types = raw["layer_types"];
  return Array.isArray(types) ? types[layer] === "sliding_attention" : otherwise;
}

const mistral: Family = {
  ...llama,
  layer: () => ({ windowed: true, rope: "global" }),
  defaults: { ...llama.defaults, window: 4096 },
};

const qwen2: Family = {
  ...llama,
  attentionBias: true,
  layer: (raw, layer) => ({
    windowed:
      raw["use_sliding_window"] === true &&
      isWindowed(raw, layer, layer >= Number(raw["max_window_layers"] ?? 28)),
    rope: "global",
  }),
  defaults: mistral.defaults,
};

const gemma3: Family = {
  ...llama,
  norms: {
    beforeAttention: "input_layernorm",
    afterAttention: "post_attention_layernorm",
    beforeFeedForward: "pre_feedforward_layernorm",
    afterFeedForward: "post_feedforward_layernorm",
  },
  normOffset: 1,
  queryKeyNorm: "head",
  activation: "gelu_tanh",
  layer: (raw, layer) => {
    const pattern = Number(raw["sliding_window_pattern"] ?? raw["_sliding_window_pattern"] ?? 6);
    const windowed = isWindowed(raw, layer, (layer + 1) % pattern !== 0);
    return { windowed, rope: windowed ? "local" : "global" };
  },
  defaults: { tiedEmbeddings: true, theta: 1_000_000, window: 4096 },
  scaledEmbeddings: true,
};

const smollm3: Family = {
  ...llama,
  layer: (raw, layer) => {
    const turning = raw["no_rope_layers"];
    const interval = Number(raw["no_rope_layer_interval"] ?? 4);
    const turns = Array.isArray(turning) ? turning[layer] === 1 : (layer + 1) % interval !== 0;
    const windowed = isWindowed(raw, layer, raw["use_sliding_window"] === true && !turns);
    return { windowed, rope: turns ? "global" : "none" };
  },
  defaults: { tiedEmbeddings: true, theta: 2_000_000, window: null },
};

const olmo2: Family = {
  ...llama,
  norms: {
    beforeAttention: null,
    afterAttention: "post_attention_layernorm",
    beforeFeedForward: null,
    afterFeedForward: "post_feedforward_layernorm",
  },
  queryKeyNorm: "width",
};

export const families: Readonly<Record<string, Family>> = {
  LlamaForCausalLM: llama,
  MistralForCausalLM: mistral,
  Qwen2ForCausalLM: qwen2,
  Qwen3ForCausalLM: { ...qwen2, attentionBias: false, queryKeyNorm: "head" },
  Gemma3ForCausalLM: gemma3,
  SmolLM3ForCausalLM: smollm3,
  /** Phi-4-mini, too. */
  Phi3ForCausalLM: { ...mistral, fusedProjections: true, defaults: llama.defaults },
  Olmo2ForCausalLM: olmo2,
};
