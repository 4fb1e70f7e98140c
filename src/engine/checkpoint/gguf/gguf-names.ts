/** Names of tensors: those of Hugging Face's Llama-type models, and llama.cpp's for the same. */

const outer: readonly (readonly [gguf: string, hub: string])[] = [
  ["token_embd.weight", "model.embed_tokens.weight"],
  ["output_norm.weight", "model.norm.weight"],
  ["output.weight", "lm_head.weight"],
];

const inner: readonly (readonly [gguf: string, hub: string])[] = [
  ["attn_norm", "input_layernorm"],
  ["attn_q", "self_attn.q_proj"],
  ["attn_k", "self_attn.k_proj"],
  ["attn_v", "self_attn.v_proj"],
  ["attn_output", "self_attn.o_proj"],
  ["attn_q_norm", "self_attn.q_norm"],
  ["attn_k_norm", "self_attn.k_norm"],
  ["ffn_norm", "post_attention_layernorm"],
  ["ffn_gate", "mlp.gate_proj"],
  ["ffn_up", "mlp.up_proj"],
  ["ffn_down", "mlp.down_proj"],
];

const fromGguf = new Map([...outer, ...inner]);
const toGguf = new Map([...outer, ...inner].map(([gguf, hub]) => [hub, gguf]));

/** Undefined for a tensor that is not part of Llama-type models. */
export function hubName(gguf: string): string | undefined {
  const block = /^blk\.(\d+)\.(\w+)\.(weight|bias)$/u.exec(gguf);
  if (block === null) return fromGguf.get(gguf);
  const part = fromGguf.get(block[2]!);
  return part === undefined ? undefined : `model.layers.${block[1]}.${part}.${block[3]}`;
}

/** @throws Error for a name that no supported model has. */
export function ggufName(hub: string): string {
  const layer = /^model\.layers\.(\d+)\.(.+)\.(weight|bias)$/u.exec(hub);
  const found = toGguf.get(layer === null ? hub : layer[2]!);
  if (found === undefined) throw new Error(`GGUF has no name for "${hub}".`);
  return layer === null ? found : `blk.${layer[1]}.${found}.${layer[3]}`;
}

/**
 * llama.cpp rotates adjacent pairs of a Llama model's queries and keys, Hugging Face rotates the two
 * halves of a head; the converter reorders rows accordingly. Qwen models are left as they are.
 */
export function hasReorderedRows(architecture: string, hub: string): boolean {
  return architecture === "llama" && /self_attn\.[qk]_proj\.(?:weight|bias)$/u.test(hub);
}

/** Hugging Face's row of the row `row` of a reordered tensor. */
export function hubRow(row: number, headSize: number): number {
  const inHead = row % headSize;
  return row - inHead + (inHead & 1) * (headSize / 2) + (inHead >> 1);
}
