/**
 * Datums laid out as padded batches of tensors. Every position is a target, whatever its weight: a
 * client wants the log-probability of each.
 */
import { maskedScore } from "../../engine/model/transformer.ts";
import type { BatchLimits } from "../../engine/training/batch-limits.ts";
import type { Tensor } from "../../engine/runtime.ts";

/** A checked datum; all arrays have the length of `tokens`. */
export interface LossRow {
  readonly tokens: Int32Array;
  readonly targets: Int32Array;
  readonly weights: Float32Array;
  readonly advantages: Float32Array;
  readonly samplingLogprobs: Float32Array;
}

export interface DatumBatch {
  /** Indices of the rows in it, in the order of its tokens. */
  readonly members: readonly number[];
  /** Its activations fit only when layers are computed again for their gradients. */
  readonly checkpointed: boolean;
  readonly modelInputs: Readonly<Record<string, Tensor>>;
  readonly lossInputs: Readonly<Record<string, Tensor>>;
}

/** Longest rows together, as many as `limits` allows. */
export function makeDatumBatches(
  rows: readonly LossRow[],
  limits: BatchLimits,
): readonly DatumBatch[] {
  const order = rows
    .map((row, index) => ({ row, index }))
    .toSorted((a, b) => b.row.tokens.length - a.row.tokens.length || a.index - b.index);
  const batches: DatumBatch[] = [];
  let start = 0;
  while (start < order.length) {
    const { rows: count, checkpointed } = limits.rows(order[start]!.row.tokens.length + 1);
    const members = order.slice(start, start + count);
    batches.push({ ...layOut(members, limits.headChunkRows), checkpointed });
    start += count;
  }
  return batches;
}

function layOut(
  members: readonly { readonly row: LossRow; readonly index: number }[],
  headChunkRows: number,
): Omit<DatumBatch, "checkpointed"> {
  const size = members[0]!.row.tokens.length;
  const ids = new BigInt64Array(members.length * size);
  const positions = new BigInt64Array(members.length * size);
  const count = members.reduce((sum, { row }) => sum + row.tokens.length, 0);
  const chunks = Math.ceil(count / headChunkRows);
  const chunk = Math.ceil(count / chunks);
  const targets = new BigInt64Array(chunks * chunk);
  const rowIndices = new BigInt64Array(count);
  const rowOf = new BigInt64Array(count);
  const rowShares = new Float32Array(members.length);
  const perToken = {
    sampling_logprobs: new Float32Array(count),
    advantages: new Float32Array(count),
    weights: new Float32Array(count),
  };
  let at = 0;
  for (const [b, { row }] of members.entries()) {
    const { length } = row.tokens;
    for (let s = 0; s < size; s++) positions[b * size + s] = BigInt(s);
    perToken.sampling_logprobs.set(row.samplingLogprobs, at);
    perToken.advantages.set(row.advantages, at);
    perToken.weights.set(row.weights, at);
    for (let s = 0; s < length; s++, at++) {
      ids[b * size + s] = BigInt(row.tokens[s]!);
      rowIndices[at] = BigInt(b * size + s);
      targets[at] = BigInt(row.targets[s]!);
      rowOf[at] = BigInt(b);
    }
    rowShares[b] = 1 / length;
  }
  return {
    members: members.map(({ index }) => index),
    modelInputs: {
      ids: { data: ids, shape: [members.length * size] },
      positions: { data: positions, shape: [members.length, size] },
      mask: { data: causalMask(size), shape: [1, 1, 1, size, size] },
      rows: { data: rowIndices, shape: [count] },
      targets: { data: targets, shape: [targets.length] },
      chunks: { data: BigInt64Array.of(BigInt(chunks)), shape: [] },
      chunk: { data: BigInt64Array.of(BigInt(chunk)), shape: [1] },
    },
    lossInputs: {
      sampling_logprobs: { data: perToken.sampling_logprobs, shape: [count] },
      advantages: { data: perToken.advantages, shape: [count] },
      weights: { data: perToken.weights, shape: [count] },
      // Tinker's losses are plain sums.
      factors: { data: new Float32Array(count).fill(1), shape: [count] },
      row_of: { data: rowOf, shape: [count] },
      row_shares: { data: rowShares, shape: [members.length] },
    },
  };
}

function causalMask(size: number): Float32Array {
  const mask = new Float32Array(size * size);
  for (let i = 0; i < size; i++) mask.fill(maskedScore, i * size + i + 1, (i + 1) * size);
  return mask;
}
