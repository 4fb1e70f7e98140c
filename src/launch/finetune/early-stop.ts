/** Early stopping: how many validations in a row were no better than the best one. */
import { readLines } from "../../datasets/files/json-lines-file.ts";

export class EarlyStop {
  readonly #patience: number;
  #sinceBest: number;

  /** @param patience 0 never stops. @param sinceBest validations since the best one, in an earlier process. */
  constructor(patience: number, sinceBest: number) {
    this.#patience = patience;
    this.#sinceBest = sinceBest;
  }

  add(isBest: boolean): void {
    this.#sinceBest = isBest ? 0 : this.#sinceBest + 1;
  }

  get isDue(): boolean {
    return this.#patience > 0 && this.#sinceBest >= this.#patience;
  }
}

/** Validations recorded in `metrics.jsonl` after step `best`. */
export function validationsAfter(metricsFile: string, best: number): number {
  let count = 0;
  for (const { text } of readLines(metricsFile)) {
    if (text === "") continue;
    const { step, phase } = JSON.parse(text) as { readonly step: number; readonly phase: string };
    if (phase === "validation" && step > best) count++;
  }
  return count;
}
