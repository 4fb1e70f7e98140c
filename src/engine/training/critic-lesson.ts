/** What a critic is to learn from in one update: hidden states of the rows that have returns, as passes give them. */
import { rowFactors } from "../../core/loss/aggregation.ts";
import { NumericsError } from "../../core/errors.ts";
import type { LossSpec } from "../../core/loss/loss.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { CriticSpec } from "../../core/loss/value-loss.ts";
import type { Device } from "../tensor/device.ts";
import { newTensor, type Tensor } from "../tensor/tensor.ts";
import type { MicroBatch } from "./micro-batch.ts";
import type { ValueBatch } from "./value-head.ts";

export class CriticLesson {
  readonly spec: CriticSpec;
  readonly #rows: readonly TrainingRow[];
  readonly #factors: ReadonlyMap<TrainingRow, number>;
  readonly #states: Float32Array[] = [];
  readonly #values: number[] = [];
  readonly #returns: number[] = [];
  readonly #tokenFactors: number[] = [];

  /**
   * @param rows what batches refer to
   * @throws NumericsError where a return is not finite
   */
  constructor(spec: CriticSpec, rows: readonly TrainingRow[], loss: LossSpec) {
    const valued = rows.filter(({ returns }) => returns !== undefined);
    const odd = valued
      .flatMap(({ returns }) => Array.from(returns!))
      .find((x) => !Number.isFinite(x));
    if (odd !== undefined) throw new NumericsError("A return", odd);
    const factors = rowFactors(valued, loss.aggregation, loss.aggregationLength);
    this.spec = spec;
    this.#rows = rows;
    this.#factors = new Map(valued.map((row, i) => [row, factors[i]!]));
  }

  /** @param states [R, H] of the batch, which are copied */
  add(states: Tensor, batch: MicroBatch): void {
    let place = 0;
    for (const { index, positions } of batch.rows) {
      const row = this.#rows[index]!;
      const factor = this.#factors.get(row);
      for (const position of positions) {
        const at = place++;
        if (factor === undefined || row.targetMask[position] !== 1) continue;
        this.#states.push(states.row(at).slice());
        this.#values.push(row.values![position]!);
        this.#returns.push(row.returns![position]!);
        this.#tokenFactors.push(factor);
      }
    }
  }

  /** Null where no token teaches anything. */
  batch(device: Device): ValueBatch | null {
    const [first] = this.#states;
    if (first === undefined) return null;
    const states = newTensor(device, this.#states.length, first.length);
    for (const [r, row] of this.#states.entries()) states.data.set(row, r * first.length);
    return {
      states,
      values: Float64Array.from(this.#values),
      returns: Float64Array.from(this.#returns),
      factors: Float64Array.from(this.#tokenFactors),
    };
  }
}
