/**
 * Datums laid out as batches of tensors. Every position is a target, whatever its weight: a
 * client wants the log-probability of each.
 */
import type { Tensor } from "../../engine/runtime.ts";
import type { BatchLimits } from "../../engine/training/batch-limits.ts";
import { suffixOf, mayGrow, sizeOf, together, type Extent } from "../../engine/training/extent.ts";
import { attentionInputs, type Segment } from "../../engine/training/segments.ts";

/** A checked datum; all arrays have the length of `tokens`. */
export interface LossRow {
  readonly tokens: Int32Array;
  readonly targets: Int32Array;
  readonly weights: Float32Array;
  readonly advantages: Float32Array;
  readonly samplingLogprobs: Float32Array;
  /** Not 0: the token is one of those that a sequence's ratio is the mean over. @default all */
  readonly ratioTokens?: Float32Array;
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
  const batches: { members: typeof order; extent: Extent }[] = [];
  for (const indexed of order) {
    const own = suffixOf(indexed.row.tokens.length);
    const batch = batches.at(-1);
    const grown = batch && together(batch.extent, own);
    if (grown !== undefined && mayGrow(limits, batch!.extent, grown)) {
      batch!.members.push(indexed);
      batch!.extent = grown;
    } else batches.push({ members: [indexed], extent: own });
  }
  return batches.map(({ members, extent }) => ({
    ...layOut(members, limits.headChunkRows),
    checkpointed: limits.fit(sizeOf(extent)) !== "kept",
  }));
}

function layOut(
  members: readonly { readonly row: LossRow; readonly index: number }[],
  headChunkRows: number,
): Omit<DatumBatch, "checkpointed"> {
  const count = members.reduce((sum, { row }) => sum + row.tokens.length, 0);
  const ids = new BigInt64Array(count);
  const positions = new BigInt64Array(count);
  const chunks = Math.ceil(count / headChunkRows);
  const chunk = Math.ceil(count / chunks);
  const targets = new BigInt64Array(chunks * chunk);
  const rowOf = new BigInt64Array(count);
  // The last is for tokens that are no part of any sequence's ratio.
  const rowShares = new Float32Array(members.length + 1);
  const perToken = {
    sampling_logprobs: new Float32Array(count),
    advantages: new Float32Array(count),
    weights: new Float32Array(count),
  };
  const suffix: Segment[] = [];
  let at = 0;
  for (const [b, { row }] of members.entries()) {
    const { length } = row.tokens;
    suffix.push({ start: at, length, prefix: null });
    perToken.sampling_logprobs.set(row.samplingLogprobs, at);
    perToken.advantages.set(row.advantages, at);
    perToken.weights.set(row.weights, at);
    for (let s = 0; s < length; s++, at++) {
      ids[at] = BigInt(row.tokens[s]!);
      positions[at] = BigInt(s);
      targets[at] = BigInt(row.targets[s]!);
      rowOf[at] = BigInt(row.ratioTokens?.[s] === 0 ? members.length : b);
    }
    rowShares[b] = 1 / Math.max(1, row.ratioTokens?.filter((mark) => mark !== 0).length ?? length);
  }
  return {
    members: members.map(({ index }) => index),
    modelInputs: {
      ids: { data: ids, shape: [count] },
      positions: { data: positions, shape: [count, 1] },
      ...attentionInputs({ prefix: [], suffix }, count),
      rows: { data: BigInt64Array.from(ids.keys(), BigInt), shape: [count] },
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
      row_shares: { data: rowShares, shape: [rowShares.length] },
    },
  };
}
