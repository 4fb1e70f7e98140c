/**
 * DPO on a backend that does not know it: to first order the loss is its gradient, so each token gets the
 * negative gradient as its advantage, and its current log-probability as the one it was sampled with. The
 * reference is the model as it was loaded; its log-probabilities are computed once, before the first step.
 */
import { defaultLoss, type LossSpec } from "../../../core/loss/loss.ts";
import type { TrainingRow } from "../../../core/loss/training-row.ts";
import { countTrained, type Example, type TokenRow, trainingRow } from "../examples/token-row.ts";
import { dpoMetrics, type DpoTerm, dpoTerm, type PairLogprobs } from "./dpo-loss.ts";
import type { Objective } from "../../../trainer/steppers/examples.ts";
import { forwardInParts, type Scorer, sumTrained } from "./row-logprobs.ts";

const loss: LossSpec = { ...defaultLoss, name: "importance_sampling", aggregation: "token-sum" };

/** The log-probabilities of a pair, and the rows in the order of `pairRows`. */
interface Scored {
  readonly pair: PairLogprobs;
  readonly logprobs: readonly Float32Array[];
}

const pairRows = ({
  rows,
  rejected,
}: Example): readonly (readonly [TokenRow, isChosen: boolean])[] => [
  ...rows.map((row) => [row, true] as const),
  ...(rejected ?? []).map((row) => [row, false] as const),
];

async function score(
  backend: Scorer,
  examples: readonly Example[],
  size: number,
  signal: AbortSignal,
): Promise<readonly Scored[]> {
  const flat = examples.flatMap((example) =>
    pairRows(example).map(([row]) => trainingRow(row, example.at)),
  );
  const all = await forwardInParts(backend, flat, size, signal);
  let next = 0;
  return examples.map((example) => {
    const rows = pairRows(example);
    const logprobs = all.slice(next, (next += rows.length));
    const sumOf = (wanted: boolean): number =>
      rows.reduce(
        (sum, [{ mask }, isChosen], i) =>
          isChosen === wanted ? sum + sumTrained(logprobs[i]!, mask) : sum,
        0,
      );
    return { logprobs, pair: { chosen: sumOf(true), rejected: sumOf(false) } };
  });
}

/** Log-probabilities of each pair under the weights as they are now. */
export type Reference = ReadonlyMap<Example, PairLogprobs>;

/** In parts that depend on the pairs alone, so that a resumed run has the same numbers to the last bit. */
export async function referenceOf(
  backend: Scorer,
  examples: readonly Example[],
  size: number,
  signal: AbortSignal,
): Promise<Reference> {
  const scored = await score(backend, examples, size, signal);
  return new Map(examples.map((example, i) => [example, scored[i]!.pair]));
}

export interface PreferenceOptions {
  readonly beta: number;
  readonly reference: Reference;
  /** Rows of one forward pass of a validation. */
  readonly batchSize: number;
  readonly signal: AbortSignal;
}

export function preference(
  backend: Scorer,
  { beta, reference, batchSize, signal }: PreferenceOptions,
): Objective<Example> {
  const termsOf = (examples: readonly Example[], scored: readonly Scored[]): readonly DpoTerm[] =>
    examples.map((example, i) => dpoTerm(scored[i]!.pair, reference.get(example)!, beta));
  return {
    loss,
    async prepare(batch) {
      // The whole batch at once, as the update computes it.
      const scored = await score(backend, batch, Infinity, signal);
      const terms = termsOf(batch, scored);
      const rows = batch.flatMap((example, i): TrainingRow[] => {
        const { gradient } = terms[i]!;
        return pairRows(example).map(([row, isChosen], r) => {
          const advantage = ((isChosen ? -1 : 1) * gradient) / batch.length;
          return trainingRow(row, example.at, advantage, scored[i]!.logprobs[r]);
        });
      });
      const tokens = batch
        .flatMap((example) => pairRows(example))
        .reduce((sum, [row]) => sum + countTrained(row), 0);
      return {
        rows,
        report: ({ grad_norm: gradNorm }) => ({
          ...dpoMetrics(terms),
          ...(gradNorm === undefined ? {} : { grad_norm: gradNorm }),
          tokens,
        }),
      };
    },
    async measure(examples) {
      const scored = await score(backend, examples, batchSize, signal);
      return dpoMetrics(termsOf(examples, scored));
    },
  };
}
