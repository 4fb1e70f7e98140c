/** A decoder's shape. One decoder covers all families; `parse-config.ts` reads their configurations. */
import type { RopeTable } from "./rope.ts";

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
  /** Of every layer; those of the same kind are the same object. */
  readonly layerKinds: readonly LayerKind[];
  readonly norms: LayerNorms;
  /** Added to the weights of all RMS norms, those of queries and keys and the last one too (Gemma: 1). */
  readonly normOffset: 0 | 1;
  /**
   * Queries and keys are normalized before rotation: each head (Qwen3, Gemma 3; weights of the head's
   * size), or all heads together (OLMo 2; weights of the whole width).
   */
  readonly queryKeyNorm: "none" | "head" | "width";
  /** Query, key and value projections add a bias (Qwen2). */
  readonly attentionBias: boolean;
  /** Scores of queries and keys are multiplied by it. */
  readonly attentionScale: number;
  /** Of the gate; `gelu_tanh` is GELU with tanh (Gemma). */
  readonly activation: "silu" | "gelu_tanh";
  /**
   * Embeddings are multiplied by it (Gemma: the root of the hidden size). A 32-bit float, as transformers
   * computes in 32 bits; in bf16 it rounds the factor, too: for 640, 25.25 instead of 25.298.
   */
  readonly embeddingScale: number;
  /** Query, key and value are one matrix, gate and up another (Phi-3); see `projections`. */
  readonly fusedProjections: boolean;
  /** Maximum sequence length: the model's own limit, at most `maxContextLength`. */
  readonly contextLength: number;
  /** The output matrix is the embedding table. */
  readonly tiedEmbeddings: boolean;
}

/** How a layer's attention sees positions. */
export interface LayerKind {
  /** Null without position encoding (some layers of SmolLM3). */
  readonly rope: RopeTable | null;
  /** A token sees so many keys, itself the last; null sees all. */
  readonly window: number | null;
}

/** The names of a layer's RMS norms, null for those that it does not have; those after are on the branch's output, before it is added. */
interface LayerNorms {
  readonly beforeAttention: string | null;
  readonly afterAttention: string | null;
  readonly beforeFeedForward: string | null;
  readonly afterFeedForward: string | null;
}

/** The rotary tables are part of the graph; longer ones would cost more than they are worth on a CPU. */
export const maxContextLength = 16_384;

/** Bytes of one token's keys and values in all layers. */
export function cacheBytesPerToken({ layers, kvHeads, headSize }: ModelConfig): number {
  return 2 * layers * kvHeads * headSize * Float32Array.BYTES_PER_ELEMENT;
}
