/** Rows laid out as batches of tensors. */
import { countTargets, rowFactors } from "../../core/aggregation.ts";
import type { LossSpec } from "../../core/loss.ts";
import type { TrainingRow } from "../../core/training-row.ts";
import type { Tensor } from "../runtime.ts";
import type { BatchLimits } from "./batch-limits.ts";
import { sizeOf } from "./extent.ts";
import { gatherPacks } from "./gather-packs.ts";
import { packRows, placePacks } from "./pack-rows.ts";
import type { Pack } from "./pack-rows.ts";
import { attentionInputs } from "./segments.ts";
import type { AttentionInput } from "./segments.ts";

/**
 * What the model reads. `rows` are the places of the trained tokens in the batch; `targets`, their ids,
 * are padded to `chunks` times `chunk`.
 */
export type ModelInput =
  | AttentionInput
  | "ids"
  | "positions"
  | "rows"
  | "targets"
  | "chunks"
  | "chunk";
/** What the objective reads; `reference_logprobs` comes later, where it is needed. */
export type LossInput =
  | "sampling_logprobs"
  | "advantages"
  | "weights"
  | "factors"
  | "row_of"
  | "row_shares";

/** One micro-batch of N tokens, R of them trained. */
export interface MicroBatch {
  readonly modelInputs: Readonly<Record<ModelInput, Tensor>>;
  /** What logits of each trained token are multiplied by, [R, 1]; null where all temperatures are 1. */
  readonly inverseTemperatures: Tensor | null;
  readonly lossInputs: Readonly<Record<LossInput, Tensor>>;
  /** For each of the R trained tokens: its row's index in the batch's rows, and its place in that row. */
  readonly origins: readonly { readonly row: number; readonly position: number }[];
  readonly trainedTokens: number;
  /** Layers are recomputed in the backward pass, so that the batch fits. */
  readonly checkpointed: boolean;
}

type Aggregated = Pick<LossSpec, "aggregation" | "aggregationLength">;

/**
 * Rows with trained tokens, packed by shared prefix, the longest together, as micro-batches
 * within `limits`. Weights are aggregated over all rows, so that summing the micro-batches' gradients
 * gives the gradient of the whole.
 */
export function makeMicroBatches(
  rows: readonly TrainingRow[],
  { aggregation, aggregationLength }: Aggregated,
  limits: BatchLimits,
): readonly MicroBatch[] {
  const factors = rowFactors(rows, aggregation, aggregationLength);
  // Determined per call, not per micro-batch, so that one graph serves all of them.
  const tempered = rows.some(({ temperature = 1 }) => temperature !== 1);
  const longestFirst = rows
    .map((row, index) => ({ row, index }))
    .filter(({ index }) => factors[index] !== 0)
    .toSorted((a, b) => b.row.tokens.length - a.row.tokens.length || a.index - b.index);
  return gatherPacks(packRows(longestFirst, limits), limits).map(({ packs, extent }) => ({
    ...layOut(packs, factors, limits.headChunkRows, tempered),
    checkpointed: limits.fit(sizeOf(extent)) !== "kept",
  }));
}

function layOut(
  packs: readonly Pack[],
  factors: Float64Array,
  headChunkRows: number,
  tempered: boolean,
): Omit<MicroBatch, "checkpointed"> {
  const { tokens, prefix, suffix } = placePacks(packs);
  const ids = new BigInt64Array(tokens);
  const positions = new BigInt64Array(tokens);
  const rowIndices: number[] = [];
  const targets: number[] = [];
  const inverseTemperatures: number[] = [];
  const samplingLogprobs: number[] = [];
  const advantages: number[] = [];
  const weights: number[] = [];
  const tokenFactors: number[] = [];
  const rowOf: number[] = [];
  const rowShares: number[] = [];
  const origins: { row: number; position: number }[] = [];
  let next = 0;
  for (const { members } of packs) {
    for (const { row, index } of members) {
      const { start, prefix: before } = suffix[next++]!;
      const shared = before?.length ?? 0;
      for (let s = 0; s + 1 < row.tokens.length; s++) {
        const place = s < shared ? before!.start + s : start + s - shared;
        ids[place] = BigInt(row.tokens[s]!);
        positions[place] = BigInt(s);
        const at = s + 1;
        if (row.targetMask[at] !== 1) continue;
        rowIndices.push(place);
        targets.push(row.tokens[at]!);
        inverseTemperatures.push(1 / (row.temperature ?? 1));
        samplingLogprobs.push(row.samplingLogprobs[at]!);
        advantages.push(row.advantages[at]!);
        weights.push(row.weights?.[at] ?? 1);
        tokenFactors.push(factors[index]!);
        rowOf.push(rowShares.length);
        origins.push({ row: index, position: at });
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
    inverseTemperatures: tempered
      ? { data: Float32Array.from(inverseTemperatures), shape: [count, 1] }
      : null,
    modelInputs: {
      ids: { data: ids, shape: [tokens] },
      positions: { data: positions, shape: [tokens, 1] },
      ...attentionInputs({ prefix, suffix }, tokens),
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
