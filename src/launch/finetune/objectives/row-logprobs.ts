/** What the objectives of fine-tuning share: log-probabilities of rows, their sums, and gradients as advantages. */
import type { TrainingBackend } from "../../../core/backend.ts";
import { defaultLoss, type LossSpec } from "../../../core/loss/loss.ts";
import type { TrainingRow } from "../../../core/loss/training-row.ts";
import { type TokenRow, trainingRow } from "../examples/token-row.ts";

/** The part of a backend that an objective uses. */
export type Scorer = Pick<TrainingBackend, "forward">;

/**
 * The loss of objectives that a backend does not know. To first order a loss is its gradient, so each token
 * gets the negative gradient as its advantage, and its current log-probability as the one it was sampled with.
 */
export const gradientLoss: LossSpec = {
  ...defaultLoss,
  name: "importance_sampling",
  aggregation: "token-sum",
};

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

/** A response in its conversation. */
export interface Response {
  readonly at: string;
  readonly rows: readonly TokenRow[];
}

export interface ScoredResponse extends Response {
  /** [row][length] */
  readonly logprobs: readonly Float32Array[];
  /** Over its trained tokens. */
  readonly sum: number;
}

/** Responses under the weights as they are now. @param size rows of one forward pass. */
export async function scoreResponses(
  backend: Scorer,
  responses: readonly Response[],
  size: number,
  signal: AbortSignal,
): Promise<readonly ScoredResponse[]> {
  const flat = responses.flatMap(({ rows, at }) => rows.map((row) => trainingRow(row, at)));
  const all = await forwardInParts(backend, flat, size, signal);
  let next = 0;
  return responses.map(({ rows, at }) => {
    const logprobs = all.slice(next, (next += rows.length));
    const sum = rows.reduce((total, { mask }, i) => total + sumTrained(logprobs[i]!, mask), 0);
    return { at, rows, logprobs, sum };
  });
}

/** Rows of {@link gradientLoss}. @param gradient of the loss of the batch by every trained token's log-probability. */
export function gradientRows(
  { at, rows, logprobs }: ScoredResponse,
  gradient: number,
): readonly TrainingRow[] {
  return rows.map((row, i) => trainingRow(row, at, -gradient, logprobs[i]));
}
