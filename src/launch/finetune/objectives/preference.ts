/**
 * DPO on a backend that does not know it, through its gradient. The reference is the model as it was loaded;
 * its log-probabilities are computed once, before the first step.
 */
import { countTrained, type Example, rowsOfExample } from "../examples/token-row.ts";
import { dpoMetrics, type DpoTerm, dpoTerm, type PairLogprobs } from "./dpo-loss.ts";
import type { Objective } from "../../../trainer/steppers/examples.ts";
import {
  gradientLoss,
  gradientRows,
  type ScoredResponse,
  type Scorer,
  scoreResponses,
} from "./row-logprobs.ts";

interface ScoredPair {
  readonly chosen: ScoredResponse;
  readonly rejected: ScoredResponse;
}

async function score(
  backend: Scorer,
  examples: readonly Example[],
  size: number,
  signal: AbortSignal,
): Promise<readonly ScoredPair[]> {
  const both = examples.flatMap(({ at, rows, rejected }) => [
    { at, rows },
    { at, rows: rejected ?? [] },
  ]);
  const scored = await scoreResponses(backend, both, size, signal);
  return examples.map((_, i) => ({ chosen: scored[2 * i]!, rejected: scored[2 * i + 1]! }));
}

const logprobsOf = ({ chosen, rejected }: ScoredPair): PairLogprobs => ({
  chosen: chosen.sum,
  rejected: rejected.sum,
});

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
  return new Map(examples.map((example, i) => [example, logprobsOf(scored[i]!)]));
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
  const termsOf = (
    examples: readonly Example[],
    scored: readonly ScoredPair[],
  ): readonly DpoTerm[] =>
    examples.map((example, i) => dpoTerm(logprobsOf(scored[i]!), reference.get(example)!, beta));
  return {
    loss: gradientLoss,
    async prepare(batch) {
      // The whole batch at once, as the update computes it.
      const scored = await score(backend, batch, Infinity, signal);
      const terms = termsOf(batch, scored);
      const rows = scored.flatMap(({ chosen, rejected }, i) => {
        const gradient = terms[i]!.gradient / batch.length;
        return [...gradientRows(chosen, gradient), ...gradientRows(rejected, -gradient)];
      });
      const tokens = batch.flatMap(rowsOfExample).reduce((sum, row) => sum + countTrained(row), 0);
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
