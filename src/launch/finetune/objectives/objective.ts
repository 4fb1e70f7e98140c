/** What fine-tuning minimizes: an update on a batch, and the same loss on held-out examples. */
import type { TrainingBackend, UpdateMetrics } from "../../../core/backend.ts";
import type { OptimSpec } from "../../../core/loss/loss.ts";
import type { TrainingRow } from "../../../core/loss/training-row.ts";
import type { Example } from "../examples/token-row.ts";

/** The part of a backend that fine-tuning uses. */
export type Learner = Pick<TrainingBackend, "updatePolicy" | "forward">;

export interface Objective {
  /** One optimizer step on a batch; metrics without a prefix, `loss` among them. */
  update(batch: readonly Example[], optim: OptimSpec): Promise<UpdateMetrics>;
  /** The loss and what belongs to it on `examples`; weights do not change. */
  measure(examples: readonly Example[]): Promise<UpdateMetrics>;
}

/** Log-probabilities of rows, some at a time: a message with all of them may be too large. */
export async function forwardInParts(
  backend: Learner,
  rows: readonly TrainingRow[],
  size: number,
  signal: AbortSignal,
): Promise<readonly Float32Array[]> {
  const all: Float32Array[] = [];
  for (let start = 0; start < rows.length; start += size) {
    signal.throwIfAborted();
    all.push(...(await backend.forward!(rows.slice(start, start + size), "current", signal)));
  }
  return all;
}

/** Sum over the trained tokens of a row, in 64 bits. */
export function sumTrained(logprobs: Float32Array, mask: Uint8Array): number {
  let sum = 0;
  for (let i = 1; i < mask.length; i++) if (mask[i] === 1) sum += logprobs[i] as number;
  return sum;
}
