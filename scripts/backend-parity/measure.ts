/** One optimizer step of a backend: loss, gradient norm, log-probabilities before and after it. */
import type { TrainingBackend } from "../../src/core/backend.ts";
import type { LossSpec, OptimSpec } from "../../src/core/loss/loss.ts";
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import { rowOf } from "../../test/engine/small-model.ts";

export interface Measured {
  readonly loss: number;
  readonly gradNorm: number;
  /** Of the trained tokens of all rows, in order. */
  readonly before: readonly number[];
  readonly after: readonly number[];
}

export const loss: LossSpec = {
  name: "ppo",
  epsClip: 0.2,
  epsClipHigh: 0.28,
  aggregation: "token-mean",
};

/** Three rows of 12, 30 and 21 tokens; ratios on both sides of the bounds, advantages of both signs. */
export async function rowsFor(backend: TrainingBackend): Promise<readonly TrainingRow[]> {
  const bare = [12, 30, 21].map((length, r) => {
    const tokens = Int32Array.from({ length }, (_, i) => (i * 31 + r * 17) % 500);
    return rowOf(tokens, 3 + r, { advantage: [1, -0.7, 0.4][r]! });
  });
  const now = await backend.forward!(bare, "current");
  return bare.map((row, r) => ({
    ...row,
    samplingLogprobs: now[r]!.map((l, i) => (row.targetMask[i] === 1 ? l - 0.5 * Math.sin(i) : 0)),
  }));
}

async function trainedLogprobs(
  backend: TrainingBackend,
  rows: readonly TrainingRow[],
): Promise<readonly number[]> {
  const found = await backend.forward!(rows, "current");
  return rows.flatMap(({ targetMask }, r) => [...found[r]!].filter((_, i) => targetMask[i] === 1));
}

export async function measure(
  backend: TrainingBackend,
  rows: readonly TrainingRow[],
  optim: OptimSpec,
): Promise<Measured> {
  const before = await trainedLogprobs(backend, rows);
  const metrics = await backend.updatePolicy(rows, loss, optim);
  const after = await trainedLogprobs(backend, rows);
  return { loss: metrics["loss"]!, gradNorm: metrics["grad_norm"]!, before, after };
}

export interface Difference {
  /** Absolute. */
  readonly loss: number;
  /** Relative. */
  readonly gradNorm: number;
  /** Largest, nats. */
  readonly before: number;
  readonly after: number;
  /** Largest of |exp(a - b) - 1| after the step, a and b of one token: what a ratio would be off by. */
  readonly ratio: number;
}

const most = (values: readonly number[]): number => Math.max(...values.map(Math.abs));

export function differenceOf(found: Measured, expected: Measured): Difference {
  const apart = (a: readonly number[], b: readonly number[]): number[] =>
    a.map((value, i) => value - b[i]!);
  const after = apart(found.after, expected.after);
  return {
    loss: Math.abs(found.loss - expected.loss),
    gradNorm: Math.abs(found.gradNorm / expected.gradNorm - 1),
    before: most(apart(found.before, expected.before)),
    after: most(after),
    ratio: most(after.map((value) => Math.expm1(value))),
  };
}
