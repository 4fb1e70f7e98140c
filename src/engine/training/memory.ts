/** How much memory a training pass takes, so that micro-batches can be cut to fit. An estimate, not a promise. */
import type { ModelConfig } from "../model/model-config.ts";
import type { BatchLimits } from "./batch.ts";

const bytesPerFloat = 4;

/**
 * Bytes that one padded token of a row of `width` tokens keeps until the backward pass is over.
 * Counted are the tensors that live at the same time: per layer some 14 of hidden size, 5 of
 * feed-forward size and 2 of the attention scores; at the head 4 of hidden size.
 */
export function bytesPerToken(config: ModelConfig, width: number): number {
  const layer = 14 * config.hiddenSize + 5 * config.ffnSize + 2 * config.heads * width;
  return bytesPerFloat * (config.layers * layer + 4 * config.hiddenSize);
}

/** Logits of one chunk. Large enough for matrix products at full speed, small beside the rest. */
const headChunkBytes = 32 * 2 ** 20;

/** What fits into `memoryMiB`; one row is always taken, and at least 16 trained tokens at a time. */
export function batchLimits(config: ModelConfig, memoryMiB: number): BatchLimits {
  return {
    rows: (width) =>
      Math.max(1, Math.floor((memoryMiB * 2 ** 20) / (bytesPerToken(config, width) * width))),
    headChunkRows: Math.max(16, Math.floor(headChunkBytes / (bytesPerFloat * config.vocabSize))),
  };
}
