/** One optimizer step of a backend: loss, gradient norm, log-probabilities before and after it. */
import type { TrainingBackend } from "../../src/core/backend.ts";
import type { OptimSpec } from "../../src/core/loss/loss.ts";
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import type { Step } from "./lessons.ts";

export interface Measured {
  /** Of the policy, and where there is a critic of its values. */
  readonly losses: readonly number[];
  readonly gradNorm: number;
  /** Of the trained tokens of all rows, in order. */
  readonly before: readonly number[];
  readonly after: readonly number[];
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
  { rows, loss, losses }: Step,
  optim: OptimSpec,
): Promise<Measured> {
  const before = await trainedLogprobs(backend, rows);
  const metrics = await backend.updatePolicy(rows, loss, optim);
  const after = await trainedLogprobs(backend, rows);
  return { losses: losses(metrics), gradNorm: metrics["grad_norm"]!, before, after };
}

export interface Difference {
  /** Absolute, the largest. */
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
    loss: most(apart(found.losses, expected.losses)),
    gradNorm: Math.abs(found.gradNorm / expected.gradNorm - 1),
    before: most(apart(found.before, expected.before)),
    after: most(after),
    ratio: most(after.map((value) => Math.expm1(value))),
  };
}
