/** What compiling one schema may cost, counted in steps of about equal time and memory. */

/** A schema that is read, but is too much work; the limit is the same on every machine. */
export class GrammarLimitError extends Error {
  override readonly name = "GrammarLimitError";
}

/** Steps of one schema: about half a second, and 100 MB at most. */
export const compileSteps = 1_000_000;

export class WorkBudget {
  readonly limit: number;
  #left: number;

  constructor(limit: number = compileSteps) {
    this.limit = limit;
    this.#left = limit;
  }

  get spent(): number {
    return this.limit - this.#left;
  }

  /** Called before the work is done. @throws GrammarLimitError */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left >= 0) return;
    throw new GrammarLimitError(
      `it takes more than ${this.limit.toLocaleString("en")} steps to compile; use fewer or simpler patterns, constants, and combinations`,
    );
  }
}
