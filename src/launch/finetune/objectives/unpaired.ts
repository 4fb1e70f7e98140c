/**
 * KTO on a backend that does not know it, through its gradient. The reference is the model as it was loaded;
 * its log-probabilities, those of the mismatched completions of all steps among them, are computed before
 * the first step.
 */
import { countTrained, type Example, type TokenRow } from "../examples/token-row.ts";
import type { Objective } from "../../../trainer/steppers/examples.ts";
import { klEstimate, ktoMetrics, type KtoTerm, ktoTerm, type KtoWeights } from "./kto-loss.ts";
import {
  gradientLoss,
  gradientRows,
  type ScoredResponse,
  type Scorer,
  scoreResponses,
  type Response,
} from "./row-logprobs.ts";

/** The prompt of one example, and the completion of another. */
interface Mismatch {
  readonly prompt: Example;
  readonly completion: Example;
}

/**
 * Completions after prompts that they do not answer, from which KTO estimates how far the policy is from the reference:
 * as in TRL, they move on by one within a batch, in the order of the data, so that its pairs are the same in every epoch.
 */
export function mismatchesOf(
  batch: readonly Example[],
  order: ReadonlyMap<Example, number>,
): readonly Mismatch[] {
  const sorted = batch.toSorted((a, b) => order.get(a)! - order.get(b)!);
  return sorted.map((prompt, i) => ({ prompt, completion: sorted.at(i - 1)! }));
}

/** What is before the first trained token is the prompt; what does not fit is cut off. */
function join(prompt: TokenRow, completion: TokenRow, maxLength: number): TokenRow {
  const end = prompt.mask.indexOf(1);
  const start = completion.mask.indexOf(1);
  const length = Math.min(end + completion.mask.length - start, maxLength);
  const tokens = new Int32Array(length);
  const mask = new Uint8Array(length);
  tokens.set(prompt.tokens.subarray(0, end));
  tokens.set(completion.tokens.subarray(start, start + length - end), end);
  mask.set(completion.mask.subarray(start, start + length - end), end);
  return { tokens, mask };
}

/** As rows: a completion of several rows has the prompts of as many rows, the last one for those left over. */
export function mismatchedResponse({ prompt, completion }: Mismatch, maxLength: number): Response {
  const rows = completion.rows.map((row, i) =>
    join(prompt.rows[Math.min(i, prompt.rows.length - 1)]!, row, maxLength),
  );
  return { at: prompt.at, rows };
}

export interface UnpairedOptions {
  readonly weights: KtoWeights;
  readonly train: readonly Example[];
  readonly val: readonly Example[];
  /** Of all steps. */
  readonly batches: readonly (readonly Example[])[];
  /** Rows of one forward pass outside of updates. */
  readonly batchSize: number;
  /** Tokens of a mismatched sequence. */
  readonly maxLength: number;
  readonly signal: AbortSignal;
}

/** Call it before any weight changes: what it computes first is the reference. */
export async function unpaired(
  backend: Scorer,
  options: UnpairedOptions,
): Promise<Objective<Example>> {
  const { weights, train, val, batches, batchSize, maxLength, signal } = options;
  const all = [...train, ...val];
  const order = new Map(all.map((example, i) => [example, i]));
  const scoreMismatched = async (mismatches: readonly Mismatch[]): Promise<readonly number[]> => {
    const sums: number[] = [];
    // Rows are joined when they are needed: those of all steps may be too large.
    for (let start = 0; start < mismatches.length; start += batchSize) {
      const part = mismatches.slice(start, start + batchSize);
      const responses = part.map((each) => mismatchedResponse(each, maxLength));
      const scored = await scoreResponses(backend, responses, batchSize, signal);
      sums.push(...scored.map(({ sum }) => sum));
    }
    return sums;
  };
  const nameOf = ({ prompt, completion }: Mismatch): string =>
    `${order.get(prompt)!} ${order.get(completion)!}`;

  const scoredAll = await scoreResponses(backend, all, batchSize, signal);
  const reference = new Map(all.map((example, i) => [example, scoredAll[i]!.sum]));
  const needed = [...batches, val].flatMap((batch) => mismatchesOf(batch, order));
  const distinct = [...new Map(needed.map((each) => [nameOf(each), each])).values()];
  const sums = await scoreMismatched(distinct);
  const mismatchedReference = new Map(distinct.map((each, i) => [nameOf(each), sums[i]!]));

  async function klOn(batch: readonly Example[]): Promise<number> {
    const mismatches = mismatchesOf(batch, order);
    const policy = await scoreMismatched(mismatches);
    return klEstimate(
      mismatches.map((each, i) => policy[i]! - mismatchedReference.get(nameOf(each))!),
    );
  }
  const termsOf = (
    examples: readonly Example[],
    scored: readonly ScoredResponse[],
    kl: number,
  ): readonly KtoTerm[] =>
    examples.map((example, i) => {
      const { sum: policy } = scored[i]!;
      const isDesirable = example.label === true;
      return ktoTerm({ policy, reference: reference.get(example)!, isDesirable }, kl, weights);
    });

  return {
    loss: gradientLoss,
    async prepare(batch) {
      const kl = await klOn(batch);
      // The whole batch at once, as the update computes it.
      const scored = await scoreResponses(backend, batch, Infinity, signal);
      const terms = termsOf(batch, scored, kl);
      const tokens = batch
        .flatMap(({ rows }) => rows)
        .reduce((sum, row) => sum + countTrained(row), 0);
      return {
        rows: scored.flatMap((each, i) => gradientRows(each, terms[i]!.gradient / batch.length)),
        report: ({ grad_norm: gradNorm }) => ({
          ...ktoMetrics(terms, kl),
          ...(gradNorm === undefined ? {} : { grad_norm: gradNorm }),
          tokens,
        }),
      };
    },
    async measure(examples) {
      const kl = await klOn(examples);
      const scored = await scoreResponses(backend, examples, batchSize, signal);
      return ktoMetrics(termsOf(examples, scored, kl), kl);
    },
  };
}
