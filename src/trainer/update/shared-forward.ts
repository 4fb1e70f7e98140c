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
  "name" | "capabilities" | "forward" | "entropies" | "values" | "updatePolicy"
>;

interface Scored {
  readonly row: TrainingRow;
  readonly logprobs: Float32Array;
}

const isSameMask = (a: Uint8Array, b: Uint8Array): boolean =>
  a === b || (a.length === b.length && a.every((value, i) => value === b[i]));

const isSameQuestion = (a: TrainingRow, b: TrainingRow): boolean =>
  (a.temperature ?? 1) === (b.temperature ?? 1) && isSameMask(a.targetMask, b.targetMask);

/** Log-probabilities of the current weights that are known, until the next update. */
export class KnownLogprobs {
  readonly #scored = new Map<Int32Array, Scored>();

  /** Rows are recognized by their `tokens` array; one whose mask has changed since is not known. */
  find(row: TrainingRow): Float32Array | undefined {
    const scored = this.#scored.get(row.tokens);
    return scored !== undefined && isSameQuestion(scored.row, row) ? scored.logprobs : undefined;
  }

  add(row: TrainingRow, logprobs: Float32Array): void {
    this.#scored.set(row.tokens, { row, logprobs });
  }

  clear(): void {
    this.#scored.clear();
  }
}

/** The same backend, which requests `"current"` log-probabilities of a row once until the next update. */
export function withSharedForward(
  backend: UpdateBackend,
  known: KnownLogprobs = new KnownLogprobs(),
): UpdateBackend {
  return overlay(backend, {
    async forward(rows, which, signal) {
      if (which !== "current") return backend.forward!(rows, which, signal);
      const open = rows.filter((row) => known.find(row) === undefined);
      if (open.length > 0) {
        const found = await backend.forward!(open, which, signal);
        for (const [i, row] of open.entries()) known.add(row, found[i]!);
      }
      return rows.map((row) => known.find(row)!);
    },
    updatePolicy(...update) {
      known.clear();
      return backend.updatePolicy(...update);
    },
  });
}

/**
 * The same backend for numbers that are only to be looked at: takes those that are known, and adds none. A pass
 * over other rows has other last bits, and an update that used them would depend on what is recorded.
 */
export function withKnownForward(backend: UpdateBackend, known: KnownLogprobs): UpdateBackend {
  return overlay(backend, {
    async forward(rows, which, signal) {
      const found = which === "current" ? rows.map((row) => known.find(row)) : [undefined];
      return found.every((logprobs) => logprobs !== undefined)
        ? found
        : backend.forward!(rows, which, signal);
    },
  });
}
