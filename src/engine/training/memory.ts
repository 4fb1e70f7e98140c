/** How much memory a training pass takes, so that micro-batches can be cut to fit. An estimate, not a promise. */
import type { ModelConfig } from "../model/model-config.ts";
import type { BatchLimits } from "./batch-limits.ts";

const bytesPerFloat = 4;

/** What the backward pass keeps of one layer: some 14 tensors of hidden size, 5 of feed-forward size, 2 of attention scores. */
function floatsPerLayer(config: ModelConfig, width: number): number {
  return 14 * config.hiddenSize + 5 * config.ffnSize + 2 * config.heads * width;
}

/**
 * Bytes that one padded token of a row of `width` tokens takes until the backward pass is over; with
 * checkpointed layers a hidden state per layer, and one layer at a time.
 */
export function bytesPerToken(config: ModelConfig, width: number, checkpointed: boolean): number {
  const layer = floatsPerLayer(config, width);
  const layers = checkpointed
    ? config.layers * config.hiddenSize + 2 * layer
    : config.layers * layer;
  return bytesPerFloat * (layers + 4 * config.hiddenSize);
}

/** Logits of one chunk. Large enough for matrix products at full speed, small beside the rest. */
const headChunkBytes = 32 * 2 ** 20;

/** Beside its two products, a score is added to, exponentiated and divided: as slow as this many multiplications more. */
const workOnScore = 40;

/** By multiplications: those with a layer's matrices against those of one score of every head. */
function scoresPerToken({ hiddenSize, ffnSize, heads, kvHeads, headSize }: ModelConfig): number {
  const products = hiddenSize * (2 * headSize * (heads + kvHeads) + 3 * ffnSize);
  return products / (heads * (2 * headSize + workOnScore));
}

/** What fits into `memoryMiB`; one row is always taken, and at least 16 trained tokens at a time. */
export function batchLimits(config: ModelConfig, memoryMiB: number): BatchLimits {
  const rowsThatFit = (width: number, checkpointed: boolean): number =>
    Math.floor((memoryMiB * 2 ** 20) / (bytesPerToken(config, width, checkpointed) * width));
  return {
    rows(width) {
      const plain = rowsThatFit(width, false);
      if (plain >= 1) return { rows: plain, checkpointed: false, fits: true };
      // Computing a third more is better than not fitting.
      const rows = rowsThatFit(width, true);
      return { rows: Math.max(1, rows), checkpointed: true, fits: rows >= 1 };
    },
    scoresPerToken: scoresPerToken(config),
    headChunkRows: Math.max(16, Math.floor(headChunkBytes / (bytesPerFloat * config.vocabSize))),
  };
}
