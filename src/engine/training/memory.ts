/**
 * How much memory a training pass takes, so that micro-batches can be cut to fit. An estimate, not a
 * guarantee.
 */
import type { ModelConfig } from "../model/model-config.ts";
import type { BatchLimits } from "./batch-limits.ts";

const bytesPerFloat = 4;

/** What the backward pass keeps of one layer for each token; see `LayerActivations`. */
function floatsOfLayer(config: ModelConfig): number {
  const { hiddenSize, ffnSize, heads, kvHeads, headSize, norms, queryKeyNorm } = config;
  const after = [norms.afterAttention, norms.afterFeedForward].filter((norm) => norm !== null);
  const projected = (heads + 2 * kvHeads) * headSize * (queryKeyNorm === "none" ? 1 : 2);
  return (4 + after.length) * hiddenSize + projected + heads * headSize + 3 * ffnSize;
}

/**
 * Bytes that a batch takes until the backward pass is over; with recomputed layers, a hidden state per layer, and one
 * layer at a time. Attention keeps no scores.
 */
function bytesOfBatch(config: ModelConfig, tokens: number, recomputed: boolean): number {
  const { hiddenSize, layers } = config;
  const layer = floatsOfLayer(config);
  // Gradients of one layer take as much as what is kept of it.
  const floats = recomputed ? layers * hiddenSize + 2 * layer : (layers + 1) * layer;
  return bytesPerFloat * tokens * (floats + 4 * hiddenSize);
}

/** Logits of one chunk. Large enough for matrix products at full speed, small compared to the rest. */
const headChunkBytes = 96 * 2 ** 20;

/** What fits into `memoryMiB`, with at least 16 trained tokens' logits at a time. */
export function batchLimits(config: ModelConfig, memoryMiB: number): BatchLimits {
  const bytes = memoryMiB * 2 ** 20;
  return {
    fit(tokens) {
      if (bytesOfBatch(config, tokens, false) <= bytes) return "kept";
      // A third more computation is better than not fitting.
      return bytesOfBatch(config, tokens, true) <= bytes ? "recomputed" : "exceeded";
    },
    headChunkRows: Math.max(16, Math.floor(headChunkBytes / (bytesPerFloat * config.vocabSize))),
  };
}
