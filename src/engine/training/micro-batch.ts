/** Rows of an update laid out for one pass: their tokens, who attends to whom, and which of them are trained. */
import { countTargets } from "../../core/loss/aggregation.ts";
import { countObserved, isPredicted } from "../../core/loss/observations.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { LogitBias } from "../logit-rules/rule-state.ts";
import { type BatchLimits, mayGrow } from "./batch-limits.ts";
import { packRows, placePacks, type Pack, tokensOf } from "./pack-rows.ts";
import type { AttentionSegment } from "../tensor/operations/attention.ts";

/** One micro-batch. */
interface Gathered {
  readonly packs: readonly Pack[];
  readonly tokens: number;
}

/** The largest first, as many together as memory allows. */
function gatherPacks(packs: readonly Pack[], limits: BatchLimits): readonly Gathered[] {
  const batches: { packs: Pack[]; tokens: number }[] = [];
  for (const pack of packs.toSorted((a, b) => tokensOf(b) - tokensOf(a))) {
    const last = batches.at(-1);
    const tokens = tokensOf(pack);
    if (last !== undefined && mayGrow(limits, last.tokens, last.tokens + tokens)) {
      last.packs.push(pack);
      last.tokens += tokens;
    } else batches.push({ packs: [pack], tokens });
  }
  return batches;
}

/** N tokens, R of them trained. */
export interface MicroBatch {
  /** [N] */
  readonly ids: Int32Array;
  /** [N] */
  readonly positions: Int32Array;
  readonly segments: readonly AttentionSegment[];
  /** [R] places of the tokens whose next one is trained, sampled or observed, and the ids of those. */
  readonly places: Int32Array;
  readonly targets: Int32Array;
  /** [R] */
  readonly inverseTemperatures: Float32Array;
  readonly isTempered: boolean;
  /** [R]; null where no row has rules. */
  readonly biases: readonly (LogitBias | null)[] | null;
  /** Of each row: its index among all rows, and its trained tokens' positions; R in all, in order. */
  readonly rows: readonly { readonly index: number; readonly positions: Int32Array }[];
  /** Layers are recomputed in the backward pass, so that the batch fits. */
  readonly isRecomputed: boolean;
}

/** What rules add to logits, by row and position. */
export type RowBiases = (row: number) => ReadonlyMap<number, LogitBias>;

/**
 * Rows whose factor is not 0 or that have observations, packed by shared prefix, the longest together, as micro-batches within `limits`.
 * @param factors of each row
 */
export function makeMicroBatches(
  rows: readonly TrainingRow[],
  factors: Float64Array,
  limits: BatchLimits,
  biases: RowBiases | null,
): readonly MicroBatch[] {
  const longestFirst = rows
    .map((row, index) => ({ row, index }))
    .filter(
      ({ index, row }) =>
        (factors[index] !== 0 && countTargets(row) > 0) || countObserved([row]) > 0,
    )
    .toSorted((a, b) => b.row.tokens.length - a.row.tokens.length || a.index - b.index);
  return gatherPacks(packRows(longestFirst, limits), limits).map(({ packs, tokens }) => ({
    ...layOut(packs, biases),
    isRecomputed: limits.fit(tokens) !== "kept",
  }));
}

function layOut(
  packs: readonly Pack[],
  biases: RowBiases | null,
): Omit<MicroBatch, "isRecomputed"> {
  const { tokens, prefix, suffix } = placePacks(packs);
  const ordered = [...prefix, ...suffix].toSorted((a, b) => a.start - b.start);
  const segments = ordered.map(({ start, length, prefix: before }) => ({
    start,
    length,
    prefix: before === null ? null : ordered.indexOf(before),
  }));
  const ids = new Int32Array(tokens);
  const positions = new Int32Array(tokens);
  const places: number[] = [];
  const targets: number[] = [];
  const inverseTemperatures: number[] = [];
  const added: (LogitBias | null)[] = [];
  const laidOut: { readonly index: number; readonly positions: Int32Array }[] = [];
  let next = 0;
  for (const { members } of packs) {
    for (const { row, index } of members) {
      const { start, prefix: before } = suffix[next++]!;
      const shared = before?.length ?? 0;
      const ofRow = biases?.(index);
      const trained: number[] = [];
      for (let s = 0; s + 1 < row.tokens.length; s++) {
        const place = s < shared ? before!.start + s : start + s - shared;
        ids[place] = row.tokens[s]!;
        positions[place] = s;
        if (!isPredicted(row, s + 1)) continue;
        const isSampled = row.targetMask[s + 1] === 1;
        trained.push(s + 1);
        places.push(place);
        targets.push(row.tokens[s + 1]!);
        // As sampling computes it, from a temperature that is a 32-bit float.
        const temperature = isSampled ? (row.temperature ?? 1) : 1;
        inverseTemperatures.push(Math.fround(1 / Math.fround(temperature)));
        added.push(ofRow?.get(s + 1) ?? null);
      }
      laidOut.push({ index, positions: Int32Array.from(trained) });
    }
  }
  return {
    ids,
    positions,
    segments,
    places: Int32Array.from(places),
    targets: Int32Array.from(targets),
    inverseTemperatures: Float32Array.from(inverseTemperatures),
    isTempered: inverseTemperatures.some((inverse) => inverse !== 1),
    biases: added.some((bias) => bias !== null) ? added : null,
    rows: laidOut,
  };
}
