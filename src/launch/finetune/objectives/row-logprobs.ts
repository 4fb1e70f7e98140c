/** What the objectives of fine-tuning share: log-probabilities of rows, and their sums. */
import type { TrainingBackend } from "../../../core/backend.ts";
import type { TrainingRow } from "../../../core/loss/training-row.ts";

/** The part of a backend that an objective uses. */
export type Scorer = Pick<TrainingBackend, "forward">;

/** Log-probabilities of rows, some at a time: a message with all of them may be too large. */
export async function forwardInParts(
  backend: Scorer,
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
