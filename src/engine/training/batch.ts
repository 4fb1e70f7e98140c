/** Rows laid out as padded batches of tensors, cut so that a batch stays within its memory. */
import type { BatchLimits } from "./batch-limits.ts";
import { countTargets, rowFactors } from "../../core/aggregation.ts";
import type { LossSpec } from "../../core/loss.ts";
import type { TrainingRow } from "../../core/training-row.ts";
import type { Tensor } from "../runtime.ts";
import { packMask, packRows, placesOf } from "./pack-rows.ts";
import type { Pack } from "./pack-rows.ts";

/**
 * What the model reads. `rows` are the places of the trained tokens in the padded batch; `targets`,
 * their ids, are padded to `chunks` times `chunk`.
 */
export type ModelInput = "ids" | "positions" | "mask" | "rows" | "targets" | "chunks" | "chunk";
/** What the objective reads; `reference_logprobs` comes later, where it is needed. */
export type LossInput =
  | "sampling_logprobs"
  | "advantages"
  | "weights"
  | "factors"
  | "row_of"
  | "row_shares";

/** One micro-batch. B packs padded on the right to S tokens; R trained tokens in all. */
export interface MicroBatch {
  readonly modelInputs: Readonly<Record<ModelInput, Tensor>>;
  readonly lossInputs: Readonly<Record<LossInput, Tensor>>;
  /** For each of the R trained tokens: its row's index in the batch's rows, and its place in that row. */
  readonly origins: readonly { readonly row: number; readonly position: number }[];
  readonly trainedTokens: number;
  /** Layers are computed again in the backward pass, so that the batch fits. */
  readonly checkpointed: boolean;
}

type Aggregated = Pick<LossSpec, "aggregation" | "aggregationLength">;

/**
 * Rows with trained tokens, packed where they begin alike and the longest together, as micro-batches of
 * at most `limits.rows(width)` sequences. Weights are aggregated over all rows, so that summing the
 * micro-batches' gradients gives the gradient of the whole.
 */
export function makeMicroBatches(
  rows: readonly TrainingRow[],
  { aggregation, aggregationLength }: Aggregated,
  limits: BatchLimits,
): readonly MicroBatch[] {
  const factors = rowFactors(rows, aggregation, aggregationLength);
  const longestFirst = rows
    .map((row, index) => ({ row, index }))
    .filter(({ index }) => factors[index] !== 0)
    .toSorted((a, b) => b.row.tokens.length - a.row.tokens.length || a.index - b.index);
  const packs = packRows(longestFirst, limits).toSorted((a, b) => b.width - a.width);
  const batches: MicroBatch[] = [];
  let start = 0;
  while (start < packs.length) {
    const { rows: most, checkpointed } = limits.rows(packs[start]!.width);
    const count = countAlike(packs.slice(start, start + most).map(({ width }) => width));
    const members = packs.slice(start, start + count);
    batches.push({ ...layOut(members, factors, limits.headChunkRows), checkpointed });
    start += count;
  }
  return batches;
}

/** Padded tokens from which on a batch is large enough to keep a processor busy. */
const busyTokens = 512;
/** A sequence shorter than this share of the longest one begins a batch of its own. */
const alikeShare = 0.75;

/** How many of `lengths`, the longest first, go together: without much padding, or to fill a batch. */
function countAlike(lengths: readonly number[]): number {
  const longest = lengths[0]!;
  const enough = Math.ceil(busyTokens / longest);
  const unlike = lengths.findIndex((length, i) => i >= enough && length < alikeShare * longest);
  return unlike < 0 ? lengths.length : unlike;
}

function layOut(
  packs: readonly Pack[],
  factors: Float64Array,
  headChunkRows: number,
): Omit<MicroBatch, "checkpointed"> {
  const size = packs[0]!.width;
  const ids = new BigInt64Array(packs.length * size);
  const positions = new BigInt64Array(packs.length * size);
  const mask = new Float32Array(packs.length * size * size);
  const rowIndices: number[] = [];
  const targets: number[] = [];
  const samplingLogprobs: number[] = [];
  const advantages: number[] = [];
  const weights: number[] = [];
  const tokenFactors: number[] = [];
  const rowOf: number[] = [];
  const rowShares: number[] = [];
  const origins: { row: number; position: number }[] = [];
  for (const [b, pack] of packs.entries()) {
    mask.set(packMask(pack, size), b * size * size);
    for (const { member, offset } of placesOf(pack)) {
      const { row, index } = member;
      for (let s = 0; s + 1 < row.tokens.length; s++) {
        const place = b * size + (s < pack.shared ? s : offset + s - pack.shared);
        ids[place] = BigInt(row.tokens[s]!);
        positions[place] = BigInt(s);
        const next = s + 1;
        if (row.targetMask[next] !== 1) continue;
        rowIndices.push(place);
        targets.push(row.tokens[next]!);
        samplingLogprobs.push(row.samplingLogprobs[next]!);
        advantages.push(row.advantages[next]!);
        weights.push(row.weights?.[next] ?? 1);
        tokenFactors.push(factors[index]!);
        rowOf.push(rowShares.length);
        origins.push({ row: index, position: next });
      }
      rowShares.push(1 / countTargets(row));
    }
  }
  const count = targets.length;
  const chunks = Math.ceil(count / headChunkRows);
  const chunk = Math.ceil(count / chunks);
  const paddedTargets = new BigInt64Array(chunks * chunk);
  paddedTargets.set(BigInt64Array.from(targets, BigInt));
  return {
    origins,
    trainedTokens: count,
    modelInputs: {
      ids: { data: ids, shape: [packs.length * size] },
      positions: { data: positions, shape: [packs.length, size] },
      mask: { data: mask, shape: [packs.length, 1, 1, size, size] },
      rows: { data: BigInt64Array.from(rowIndices, BigInt), shape: [count] },
      targets: { data: paddedTargets, shape: [paddedTargets.length] },
      chunks: { data: BigInt64Array.of(BigInt(chunks)), shape: [] },
      chunk: { data: BigInt64Array.of(BigInt(chunk)), shape: [1] },
    },
    lossInputs: {
      sampling_logprobs: { data: Float32Array.from(samplingLogprobs), shape: [count] },
      advantages: { data: Float32Array.from(advantages), shape: [count] },
      weights: { data: Float32Array.from(weights), shape: [count] },
      factors: { data: Float32Array.from(tokenFactors), shape: [count] },
      row_of: { data: BigInt64Array.from(rowOf, BigInt), shape: [count] },
      row_shares: { data: Float32Array.from(rowShares), shape: [rowShares.length] },
    },
  };
}
