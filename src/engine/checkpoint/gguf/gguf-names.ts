/** Names of tensors: Hugging Face's, and llama.cpp's for the same; and what else is stored otherwise. */
import { ggufFamilies } from "./gguf-families.ts";

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

const outerNames = new Map(outer);

/** Of the tensors of a block. */
function innerNames(architecture: string): ReadonlyMap<string, string> {
  return new Map([...inner, ...Object.entries(ggufFamilies[architecture]!.names ?? {})]);
}

/** Undefined for a tensor that is not part of models of this architecture. */
export function hubName(architecture: string, gguf: string): string | undefined {
  const block = /^blk\.(\d+)\.(\w+)\.(weight|bias)$/u.exec(gguf);
  if (block === null) return outerNames.get(gguf);
  const part = innerNames(architecture).get(block[2]!);
  return part === undefined ? undefined : `model.layers.${block[1]}.${part}.${block[3]}`;
}

/** @throws Error for a name that no supported model has. */
export function ggufName(architecture: string, hub: string): string {
  const layer = /^model\.layers\.(\d+)\.(.+)\.(weight|bias)$/u.exec(hub);
  const names = layer === null ? outerNames : innerNames(architecture);
  const wanted = layer === null ? hub : layer[2]!;
  // The family's own names come last.
  const found = Array.from(names).findLast(([, name]) => name === wanted)?.[0];
  if (found === undefined) throw new Error(`GGUF has no name for "${hub}".`);
  return layer === null ? found : `blk.${layer[1]}.${found}.${layer[3]}`;
}

export function hasReorderedRows(architecture: string, hub: string): boolean {
  return (
    ggufFamilies[architecture]!.reordersRows === true &&
    /self_attn\.[qk]_proj\.(?:weight|bias)$/u.test(hub)
  );
}

/** What is added to the values of a tensor when it is stored. */
export function normShift(architecture: string, hub: string): number {
  return ggufFamilies[architecture]!.shiftsNorms === true && hub.endsWith("norm.weight") ? 1 : 0;
}

/** Hugging Face's row of the row `row` of a reordered tensor. */
export function hubRow(row: number, headSize: number): number {
  const inHead = row % headSize;
  return row - inHead + (inHead & 1) * (headSize / 2) + (inHead >> 1);
}
