/** Rows laid out as batches of tensors. */
import { countTargets, rowFactors } from "../../core/loss/aggregation.ts";
import type { LossSpec } from "../../core/loss/loss.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { Tensor } from "../runtime.ts";
import type { BatchLimits } from "./batch-limits.ts";
import { sizeOf } from "./extent.ts";
import { gatherPacks } from "./gather-packs.ts";
import { packRows, placePacks, type Pack } from "./pack-rows.ts";
import type { RowBiases } from "./row-biases.ts";
import { attentionInputs, type AttentionInput } from "./segments.ts";

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
  /** What is added to logits of each trained token; null where no row has rules. */
  readonly biases: Readonly<Record<"bias_rows" | "bias_of", Tensor>> | null;
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
  biases: RowBiases | null = null,
): readonly MicroBatch[] {
  const factors = rowFactors(rows, aggregation, aggregationLength);
  // Determined per call, not per micro-batch, so that one graph serves all of them.
  const tempered = rows.some(({ temperature = 1 }) => temperature !== 1);
  const longestFirst = rows
    .map((row, index) => ({ row, index }))
    .filter(({ index }) => factors[index] !== 0)
    .toSorted((a, b) => b.row.tokens.length - a.row.tokens.length || a.index - b.index);
  return gatherPacks(packRows(longestFirst, limits), limits).map(({ packs, extent }) => ({
    ...layOut(packs, factors, limits.headChunkRows, tempered, biases),
    checkpointed: limits.fit(sizeOf(extent)) !== "kept",
  }));
}

function layOut(
  packs: readonly Pack[],
  factors: Float64Array,
  headChunkRows: number,
  tempered: boolean,
  biases: RowBiases | null,
): Omit<MicroBatch, "checkpointed"> {
  const { tokens, prefix, suffix } = placePacks(packs);
  const counts = packs.flatMap(({ members }) => members.map(({ row }) => countTargets(row)));
  const count = counts.reduce((sum, n) => sum + n, 0);
  const chunks = Math.ceil(count / headChunkRows);
  const chunk = Math.ceil(count / chunks);
  const ids = new BigInt64Array(tokens);
  const positions = new BigInt64Array(tokens);
  const rowIndices = new BigInt64Array(count);
  const targets = new BigInt64Array(chunks * chunk);
  const rowOf = new BigInt64Array(count);
  const inverseTemperatures = new Float32Array(tempered ? count : 0);
  const samplingLogprobs = new Float32Array(count);
  const advantages = new Float32Array(count);
  const weights = new Float32Array(count);
  const tokenFactors = new Float32Array(count);
  const origins: { row: number; position: number }[] = [];
  const biasTable = biases?.table(chunks * chunk);
  let next = 0;
  for (const { members } of packs) {
    for (const { row, index } of members) {
      const member = BigInt(next);
      const { start, prefix: before } = suffix[next++]!;
      const shared = before?.length ?? 0;
      for (let s = 0; s + 1 < row.tokens.length; s++) {
        const place = s < shared ? before!.start + s : start + s - shared;
        ids[place] = BigInt(row.tokens[s]!);
        positions[place] = BigInt(s);
        const at = s + 1;
        if (row.targetMask[at] !== 1) continue;
        const t = origins.length;
        rowIndices[t] = BigInt(place);
        targets[t] = BigInt(row.tokens[at]!);
        biasTable?.set(t, index, at);
        if (tempered) inverseTemperatures[t] = 1 / (row.temperature ?? 1);
        samplingLogprobs[t] = row.samplingLogprobs[at]!;
        advantages[t] = row.advantages[at]!;
        weights[t] = row.weights?.[at] ?? 1;
        tokenFactors[t] = factors[index]!;
        rowOf[t] = member;
        origins.push({ row: index, position: at });
      }
    }
  }
  return {
    origins,
    trainedTokens: count,
    biases: biasTable?.inputs() ?? null,
    inverseTemperatures: tempered ? { data: inverseTemperatures, shape: [count, 1] } : null,
    modelInputs: {
      ids: { data: ids, shape: [tokens] },
      positions: { data: positions, shape: [tokens, 1] },
      ...attentionInputs({ prefix, suffix }, tokens),
      rows: { data: rowIndices, shape: [count] },
      targets: { data: targets, shape: [targets.length] },
      chunks: { data: BigInt64Array.of(BigInt(chunks)), shape: [] },
      chunk: { data: BigInt64Array.of(BigInt(chunk)), shape: [1] },
    },
    lossInputs: {
      sampling_logprobs: { data: samplingLogprobs, shape: [count] },
      advantages: { data: advantages, shape: [count] },
      weights: { data: weights, shape: [count] },
      factors: { data: tokenFactors, shape: [count] },
      row_of: { data: rowOf, shape: [count] },
      row_shares: { data: Float32Array.from(counts, (n) => 1 / n), shape: [counts.length] },
    },
  };
}
