/**
 * How much memory a training pass takes, so that micro-batches can be cut to fit. An estimate, not a
 * guarantee.
 */
import type { ModelConfig } from "../model/model-config.ts";
import type { BatchLimits, BatchSize } from "./batch-limits.ts";

const bytesPerFloat = 4;

/**
 * What the backward pass keeps of one layer: for a token some 14 tensors of hidden size and 5 of
 * feed-forward size, for a score 2 of each head, for a key itself and its value.
 */
function floatsOfLayer(config: ModelConfig, { tokens, scores, keys }: BatchSize): number {
  const { hiddenSize, ffnSize, heads, kvHeads, headSize } = config;
  const ofToken = 14 * hiddenSize + 5 * ffnSize;
  return tokens * ofToken + scores * 2 * heads + keys * 2 * kvHeads * headSize;
}

/**
 * Bytes that a batch takes until the backward pass is over; with recomputed layers, a hidden
 * state per layer, and one layer at a time.
 */
export function bytesOfBatch(config: ModelConfig, size: BatchSize, recomputed: boolean): number {
  const layer = floatsOfLayer(config, size);
  const hidden = size.tokens * config.hiddenSize;
  const layers = recomputed ? config.layers * hidden + 2 * layer : config.layers * layer;
  return bytesPerFloat * (layers + 4 * hidden);
}

/** Logits of one chunk. Large enough for matrix products at full speed, small compared to the rest. */
const headChunkBytes = 96 * 2 ** 20;

/** What fits into `memoryMiB`, with at least 16 trained tokens' logits at a time. */
export function batchLimits(config: ModelConfig, memoryMiB: number): BatchLimits {
  const bytes = memoryMiB * 2 ** 20;
  return {
    fit(size) {
      if (bytesOfBatch(config, size, false) <= bytes) return "kept";
      // A third more computation is better than not fitting.
      return bytesOfBatch(config, size, true) <= bytes ? "recomputed" : "exceeded";
    },
    headChunkRows: Math.max(16, Math.floor(headChunkBytes / (bytesPerFloat * config.vocabSize))),
  };
}
