/**
 * How often tasks are solved now: a Beta posterior for each task, or for each group of tasks, from a uniform
 * prior. The policy changes, so evidence fades.
 */

/** Of an estimate: its index, attempts that solved a task, attempts that did not, and the batch of the newest. */
export type Evidence = readonly [index: number, solved: number, unsolved: number, batch: number];

/** Batches after which the weight of evidence has halved. */
const halfLife = 20;

interface Posterior {
  readonly a: number;
  readonly b: number;
}

/** Estimates above and below these count as solved, and as out of reach. */
const [high, low] = [0.9, 0.1];

export class SolveRates {
  readonly #count: number;
  readonly #evidence = new Map<number, Evidence>();

  /** @param count number of estimates */
  constructor(count: number, before: readonly Evidence[] = []) {
    this.#count = count;
    for (const one of before) this.#evidence.set(one[0], one);
  }

  /** In ascending order of their indices: sums do not depend on the order of observations. */
  get evidence(): readonly Evidence[] {
    return [...this.#evidence.values()].sort(([a], [b]) => a - b);
  }

  #at(index: number, batch: number): readonly [solved: number, unsolved: number] {
    const found = this.#evidence.get(index);
    if (found === undefined) return [0, 0];
    const [, solved, unsolved, since] = found;
    const weight = 2 ** (-Math.max(0, batch - since) / halfLife);
    return [solved * weight, unsolved * weight];
  }

  /** @param solved attempts, fractions of one where rewards are; of `attempts` */
  observe(index: number, solved: number, attempts: number, batch: number): void {
    const [before, unsolved] = this.#at(index, batch);
    this.#evidence.set(index, [index, before + solved, unsolved + attempts - solved, batch]);
  }

  posterior(index: number, batch: number): Posterior {
    const [solved, unsolved] = this.#at(index, batch);
    return { a: 1 + solved, b: 1 + unsolved };
  }

  /** Of the estimates that have evidence, and how many do. */
  metrics(batch: number): Record<string, number> {
    const means = this.evidence.map(([index]) => {
      const { a, b } = this.posterior(index, batch);
      return a / (a + b);
    });
    const seen = { "curriculum/seen_fraction": means.length / Math.max(1, this.#count) };
    if (means.length === 0) return seen;
    const fraction = (is: (mean: number) => boolean): number =>
      means.filter(is).length / means.length;
    return {
      ...seen,
      "curriculum/solved_fraction": means.reduce((sum, mean) => sum + mean, 0) / means.length,
      "curriculum/always_solved_fraction": fraction((mean) => mean > high),
      "curriculum/never_solved_fraction": fraction((mean) => mean < low),
    };
  }
}
