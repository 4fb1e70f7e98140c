/**
 * One forward pass for all that needs log-probabilities of the same weights: KL in rewards, rollout
 * correction, a loss that the trainer computes.
 */
import type { TrainingBackend } from "../../core/backend.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import { overlay } from "../../core/overlay.ts";

/** What an update needs of a backend. */
export type UpdateBackend = Pick<
  TrainingBackend,
  "name" | "capabilities" | "forward" | "entropies" | "updatePolicy"
>;

interface Scored {
  readonly row: TrainingRow;
  readonly logprobs: Float32Array;
}

const isSameMask = (a: Uint8Array, b: Uint8Array): boolean =>
  a === b || (a.length === b.length && a.every((value, i) => value === b[i]));

const isSameQuestion = (a: TrainingRow, b: TrainingRow): boolean =>
  (a.temperature ?? 1) === (b.temperature ?? 1) && isSameMask(a.targetMask, b.targetMask);

/**
 * The same backend, which requests `"current"` log-probabilities of a row once until the next update.
 * Rows are recognized by their `tokens` array; one whose mask has changed since is requested again.
 */
export function withSharedForward(backend: UpdateBackend): UpdateBackend {
  let known = new Map<Int32Array, Scored>();
  const find = (row: TrainingRow): Float32Array | undefined => {
    const scored = known.get(row.tokens);
    return scored !== undefined && isSameQuestion(scored.row, row) ? scored.logprobs : undefined;
  };
  return overlay(backend, {
    async forward(rows, which, signal) {
      if (which !== "current") return backend.forward!(rows, which, signal);
      const open = rows.filter((row) => find(row) === undefined);
      if (open.length > 0) {
        const found = await backend.forward!(open, which, signal);
        for (const [i, row] of open.entries()) known.set(row.tokens, { row, logprobs: found[i]! });
      }
      return rows.map((row) => find(row)!);
    },
    updatePolicy(...update) {
      known = new Map();
      return backend.updatePolicy(...update);
    },
  });
}
