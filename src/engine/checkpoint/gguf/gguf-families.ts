/** What llama.cpp's files of the families differ in, by its name of the architecture. */

/** A number of the metadata of the family, without its prefix; undefined where there is none. */
type ReadNumber = (key: string) => number | undefined;

export interface GgufFamily {
  /** Hugging Face's name of the architecture. */
  readonly hub: string;
  /** Tensors of a block that are named otherwise than those of Llama. */
  readonly names?: Readonly<Record<string, string>>;
  /**
   * llama.cpp rotates adjacent pairs of queries and keys, Hugging Face the two halves of a head (or of its part that
   * turns); the converter reorders rows accordingly.
   */
  readonly reordersRows?: boolean;
  /** Norms are stored with 1 added. */
  readonly shiftsNorms?: boolean;
  /** What `config.json` of this family has besides. */
  readonly config?: (number: ReadNumber, headSize: number) => Readonly<Record<string, unknown>>;
}

/** Of five layers before each global one. */
const gemmaLocalTheta = 10_000;

export const ggufFamilies: Readonly<Record<string, GgufFamily>> = {
  llama: { hub: "LlamaForCausalLM", reordersRows: true },
  qwen2: { hub: "Qwen2ForCausalLM" },
  qwen3: { hub: "Qwen3ForCausalLM" },
  gemma3: {
    hub: "Gemma3ForCausalLM",
    names: {
      post_attention_norm: "post_attention_layernorm",
      ffn_norm: "pre_feedforward_layernorm",
      post_ffw_norm: "post_feedforward_layernorm",
    },
    shiftsNorms: true,
    config: (number, headSize) => ({
      hidden_activation: "gelu_pytorch_tanh",
      query_pre_attn_scalar: headSize,
      rope_local_base_freq: number("rope.freq_base_swa") ?? gemmaLocalTheta,
      sliding_window: number("attention.sliding_window") ?? null,
      sliding_window_pattern: 6,
    }),
  },
  smollm3: {
    hub: "SmolLM3ForCausalLM",
    reordersRows: true,
    config: () => ({ no_rope_layer_interval: 4 }),
  },
  phi3: {
    hub: "Phi3ForCausalLM",
    names: { attn_qkv: "self_attn.qkv_proj", ffn_up: "mlp.gate_up_proj" },
    config: (number) => ({
      sliding_window: number("attention.sliding_window") || null,
      original_max_position_embeddings: number("rope.scaling.original_context_length"),
    }),
  },
  olmo2: {
    hub: "Olmo2ForCausalLM",
    names: {
      post_attention_norm: "post_attention_layernorm",
      post_ffw_norm: "post_feedforward_layernorm",
    },
  },
};

/** Hugging Face's architectures that llama.cpp has under another name as well: that of the same network. */
const alike: Readonly<Record<string, string>> = { MistralForCausalLM: "llama" };

/** llama.cpp's name of a Hugging Face architecture; undefined when there is none. */
export function ggufArchitecture(hub: string): string | undefined {
  return alike[hub] ?? Object.entries(ggufFamilies).find(([, family]) => family.hub === hub)?.[0];
}
