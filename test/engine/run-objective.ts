/** Test help: the value and gradient of a loss for log-probabilities that a test chooses. */
import type { LossSpec } from "../../src/core/loss/loss.ts";
import type { TrainingRow } from "../../src/core/loss/training-row.ts";
import { checkLossNumbers } from "../../src/core/loss/check-numbers.ts";
import { objectiveOf } from "../../src/engine/training/objective.ts";
import { rowFactors } from "../../src/core/loss/aggregation.ts";

/** Log-probabilities of one row's tokens; null where a token is not trained. */
export type Numbers = readonly (number | null)[];

export interface ObjectiveCase {
  readonly now: readonly Numbers[];
  readonly sampled: readonly Numbers[];
  /** One per row, or one per token. */
  readonly advantages: readonly (number | Numbers)[];
  readonly weights?: readonly Numbers[];
  readonly reference?: readonly Numbers[];
}

export interface ObjectiveResult {
  readonly loss: number;
  /** Of the loss to `now`; 0 where a token is not trained. */
  readonly gradient: readonly (readonly number[])[];
  readonly sums: Readonly<Partial<Record<"clipped" | "kl", number>>>;
}

/** Position 0 of a row is never trained, so numbers begin at 1. */
export function rowOf(item: ObjectiveCase, i: number): TrainingRow {
  const now = item.now[i]!;
  const advantage = item.advantages[i]!;
  const shifted = (value: (k: number) => number | null | undefined): Float32Array =>
    Float32Array.from([0, ...now.map((l, k) => (l === null ? 0 : (value(k) ?? 0)))]);
  const { weights } = item;
  return {
    tokens: new Int32Array(now.length + 1),
    targetMask: Uint8Array.from([0, ...now.map((l) => (l === null ? 0 : 1))]),
    samplingLogprobs: shifted((k) => item.sampled[i]![k]),
    advantages: shifted((k) => (typeof advantage === "number" ? advantage : advantage[k])),
    ...(weights === undefined ? {} : { weights: shifted((k) => weights[i]![k]) }),
    segments: [],
    provenance: {
      taskId: "t",
      episodeId: "e",
      rolloutIndex: i,
      trajectoryUid: "u",
      trajectoryName: "agent",
    },
  };
}

/** As training computes it, from log-probabilities of its own. */
export function runObjective(item: ObjectiveCase, spec: LossSpec): ObjectiveResult {
  checkLossNumbers(spec);
  const objective = objectiveOf(spec);
  const rows = item.now.map((_, i) => rowOf(item, i));
  const factors = rowFactors(rows, spec.aggregation, spec.aggregationLength);
  const sums: Partial<Record<"clipped" | "kl", number>> = {};
  let loss = 0;
  const gradient = item.now.map((now, i) => {
    const trained = now.flatMap((logprob, k) => (logprob === null ? [] : [k]));
    const pick = (values: ArrayLike<number | null>, offset = 0): Float64Array =>
      Float64Array.from(trained, (k) => values[k + offset] ?? 0);
    const row = rows[i]!;
    const value = objective({
      logprobs: pick(now),
      samplingLogprobs: pick(row.samplingLogprobs, 1),
      advantages: pick(row.advantages, 1),
      weights: row.weights === undefined ? pick(now.map(() => 1)) : pick(row.weights, 1),
      referenceLogprobs: spec.kl ? pick(item.reference![i]!) : null,
      entropies: null,
      factor: factors[i]!,
    });
    loss += value.loss;
    for (const name of ["clipped", "kl"] as const)
      if (value[name] !== null) sums[name] = (sums[name] ?? 0) + value[name];
    const own = now.map(() => 0);
    for (const [at, k] of trained.entries()) own[k] = value.coefficients[at]!;
    return own;
  });
  return { loss, gradient, sums };
}
