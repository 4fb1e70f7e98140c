/** Rows to train on: random tokens, since what they say does not change what they cost. */
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import { createRandom } from "../../src/util/random.ts";

/** Rows of one size. */
export interface RowShape {
  readonly rows: number;
  readonly tokens: number;
  /** Trained ones among them. */
  readonly trained: number;
}

/**
 * One step of the demo in the middle of its training (seed 1, step 6, rounded): most conversations look
 * the price up and multiply, others take a shorter way.
 */
export const demoStep: readonly RowShape[] = [
  { rows: 72, tokens: 77, trained: 19 },
  { rows: 14, tokens: 58, trained: 13 },
  { rows: 6, tokens: 53, trained: 9 },
  { rows: 4, tokens: 35, trained: 4 },
];

/** Every token but the first is trained: the most that a head can be asked for. */
export function denseRows(rows: number, tokens: number): readonly RowShape[] {
  return [{ rows, tokens, trained: tokens - 1 }];
}

export function countTokens(shapes: readonly RowShape[]): number {
  return shapes.reduce((sum, { rows, tokens }) => sum + rows * tokens, 0);
}

export const provenance = {
  taskId: "bench",
  episodeId: "bench",
  rolloutIndex: 0,
  trajectoryUid: "bench",
  trajectoryName: "agent",
};

/** The trained tokens are the last ones of each row. */
export function makeRows(shapes: readonly RowShape[], vocabSize: number): TrainingRow[] {
  const random = createRandom(1);
  return shapes.flatMap(({ rows, tokens: length, trained }) =>
    Array.from({ length: rows }, () => {
      const targetMask = new Uint8Array(length).fill(1, length - trained);
      const isOdd = random() < 0.5;
      return {
        tokens: Int32Array.from({ length }, () => Math.floor(random() * vocabSize)),
        targetMask,
        samplingLogprobs: Float32Array.from(targetMask, (target) => -target * Math.log(vocabSize)),
        advantages: Float32Array.from(targetMask, (target) => (isOdd ? -target : target)),
        segments: [],
        provenance,
      };
    }),
  );
}
