/** The loss of an update: from the log-probabilities of a pass to its value and to the coefficients of the backward pass. */
import { rowFactors } from "../../core/loss/aggregation.ts";
import type { LossSpec } from "../../core/loss/loss.ts";
import { countObserved, observationWeight } from "../../core/loss/observations.ts";
import type { TrainingRow } from "../../core/loss/training-row.ts";
import type { MicroBatch } from "./micro-batch.ts";
import { objectiveOf } from "./objective.ts";
import type { Coefficients } from "./training-pass.ts";
import { UpdateStatistics } from "./update-statistics.ts";

/** What a pass found, [R] each. */
interface Found {
  readonly logprobs: Float32Array;
  /** Where the loss has an entropy bonus. */
  readonly entropies: Float32Array | null;
}

export class UpdateLoss {
  readonly statistics: UpdateStatistics;
  /** By row: what its terms are multiplied by. */
  readonly factors: Float64Array;
  readonly #rows: readonly TrainingRow[];
  readonly #objective: ReturnType<typeof objectiveOf>;
  readonly #entropyCoef: number;
  readonly #observed: number;

  constructor(rows: readonly TrainingRow[], loss: LossSpec) {
    this.#rows = rows;
    this.statistics = new UpdateStatistics(loss);
    this.factors = rowFactors(rows, loss.aggregation, loss.aggregationLength);
    this.#objective = objectiveOf(loss);
    this.#entropyCoef = loss.entropyCoef ?? 0;
    this.#observed = Math.max(1, countObserved(rows));
  }

  get hasEntropy(): boolean {
    return this.#entropyCoef !== 0;
  }

  /** The derivatives of the loss by what was found; its value is added to the statistics. */
  coefficients(batch: MicroBatch, found: Found, reference: Float32Array | null): Coefficients {
    const logprobs = new Float64Array(found.logprobs.length);
    const entropies = this.hasEntropy ? new Float64Array(logprobs.length) : null;
    let at = 0;
    for (const { index, positions } of batch.rows) {
      const row = this.#rows[index]!;
      const factor = this.factors[index]!;
      const start = at;
      /** Places among the pass's tokens of those that were sampled. */
      const places = Int32Array.from(positions.keys(), (k) => start + k).filter(
        (place) => row.targetMask[positions[place - start]!] === 1,
      );
      const pick = (values: ArrayLike<number>): Float64Array =>
        Float64Array.from(places, (place) => values[positions[place - start]!]!);
      const take = (values: ArrayLike<number>): Float64Array =>
        Float64Array.from(places, (place) => values[place]!);
      const own = take(found.logprobs);
      const samplingLogprobs = pick(row.samplingLogprobs);
      const value = this.#objective({
        logprobs: own,
        samplingLogprobs,
        advantages: pick(row.advantages),
        weights: row.weights === undefined ? own.map(() => 1) : pick(row.weights),
        referenceLogprobs: reference && take(reference),
        entropies: found.entropies && take(found.entropies),
        factor,
      });
      this.statistics.add(value, own, samplingLogprobs);
      for (const [k, place] of places.entries()) {
        logprobs[place] = value.coefficients[k]!;
        if (entropies !== null) entropies[place] = -factor * this.#entropyCoef;
      }
      for (const [k, position] of positions.entries()) {
        const weight = observationWeight(row, position) / this.#observed;
        if (row.targetMask[position] === 1 || weight === 0) continue;
        logprobs[at + k] = -weight;
        this.statistics.observe(weight, found.logprobs[at + k]!);
      }
      at += positions.length;
    }
    return { logprobs, entropies };
  }
}
