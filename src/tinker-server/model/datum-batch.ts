/** Datums laid out as micro-batches. Every position is a target, whatever its weight: a client wants the log-probability of each. */
import type { MicroBatch } from "../../engine/training/micro-batch.ts";
import { mayGrow, type BatchLimits } from "../../engine/training/batch-limits.ts";

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

/** Longest rows together, as many as `limits` allows. */
export function makeDatumBatches(
  rows: readonly Pick<LossRow, "tokens" | "targets">[],
  limits: BatchLimits,
): readonly MicroBatch[] {
  const order = rows
    .map((row, index) => ({ row, index, length: row.tokens.length }))
    .toSorted((a, b) => b.length - a.length || a.index - b.index);
  const batches: { members: typeof order; tokens: number }[] = [];
  for (const indexed of order) {
    const batch = batches.at(-1);
    if (batch !== undefined && mayGrow(limits, batch.tokens, batch.tokens + indexed.length)) {
      batch.members.push(indexed);
      batch.tokens += indexed.length;
    } else batches.push({ members: [indexed], tokens: indexed.length });
  }
  return batches.map(({ members, tokens }) => {
    const ids = new Int32Array(tokens);
    const targets = new Int32Array(tokens);
    const positions = new Int32Array(tokens);
    let start = 0;
    const segments = members.map(({ row, length }) => {
      ids.set(row.tokens, start);
      targets.set(row.targets, start);
      for (let i = 0; i < length; i++) positions[start + i] = i;
      start += length;
      return { start: start - length, length, prefix: null };
    });
    return {
      ids,
      targets,
      positions,
      segments,
      places: Int32Array.from(ids.keys()),
      inverseTemperatures: new Float32Array(tokens).fill(1),
      isTempered: false,
      biases: null,
      rows: members.map(({ row, index }) => ({
        index,
        positions: Int32Array.from(row.tokens.keys()),
      })),
      isRecomputed: limits.fit(tokens) !== "kept",
    };
  });
}
