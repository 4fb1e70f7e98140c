/** What a critic learns in one update: value losses of the rows that have returns, micro-batch by micro-batch. */
import { rowFactors } from "../../core/loss/aggregation.ts";
import { NumericsError } from "../../core/errors.ts";
import type { LossSpec } from "../../core/loss/loss.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { CriticSpec } from "../../core/loss/value-loss.ts";
import { newTensor, type Tensor } from "../tensor/tensor.ts";
import type { Device } from "../tensor/device.ts";
import type { MicroBatch } from "./micro-batch.ts";
import type { ValueHead } from "./value-head.ts";

/** The rows that teach a critic. */
export const valuedRows = (rows: readonly TrainingRow[]): TrainingRow[] =>
  rows.filter(({ returns }) => returns !== undefined);

export class CriticLesson {
  readonly #head: ValueHead;
  readonly #spec: CriticSpec;
  readonly #rows: readonly TrainingRow[];
  readonly #factors: ReadonlyMap<TrainingRow, number>;
  readonly #sums = { terms: 0, clipped: 0, tokens: 0 };

  /** @param rows what batches refer to */
  constructor(head: ValueHead, spec: CriticSpec, rows: readonly TrainingRow[], loss: LossSpec) {
    const valued = valuedRows(rows);
    const factors = rowFactors(valued, loss.aggregation, loss.aggregationLength);
    this.#head = head;
    this.#spec = spec;
    this.#rows = rows;
    this.#factors = new Map(valued.map((row, i) => [row, factors[i]!]));
  }

  /**
   * @param states [R, H] of the batch
   * @returns the gradient of `states`; null where they are not changed
   * @throws NumericsError where the value loss is not finite
   */
  learn(device: Device, states: Tensor, batch: MicroBatch): Tensor | null {
    const { sharedCoef, isWarmup } = this.#spec;
    const isShared = sharedCoef !== 0 && !isWarmup;
    const ofStates = isShared ? newTensor(device, states.rows, states.columns) : null;
    let at = 0;
    for (const { index, positions } of batch.rows) {
      const row = this.#rows[index]!;
      const start = at;
      at += positions.length;
      const factor = this.#factors.get(row);
      if (factor === undefined) continue;
      const sampled = positions.filter((position) => row.targetMask[position] === 1);
      const places = Int32Array.from(positions.keys(), (k) => start + k).filter(
        (place) => row.targetMask[positions[place - start]!] === 1,
      );
      const pick = (values: Float32Array): Float64Array =>
        Float64Array.from(sampled, (position) => values[position]!);
      const targets = { places, values: pick(row.values!), returns: pick(row.returns!), factor };
      const learned = this.#head.learn(states.data, targets, this.#spec, ofStates && ofStates.data);
      this.#sums.terms += learned.terms;
      this.#sums.clipped += learned.clipped;
      this.#sums.tokens += places.length;
    }
    if (!Number.isFinite(this.#sums.terms))
      throw new NumericsError("The value loss", this.#sums.terms);
    return ofStates;
  }

  /** Means per token. */
  summary(): Record<string, number> {
    const { terms, clipped, tokens } = this.#sums;
    if (tokens === 0) return {};
    return {
      value_loss: terms / tokens,
      ...(this.#spec.clip === null ? {} : { value_clip_fraction: clipped / tokens }),
    };
  }
}
