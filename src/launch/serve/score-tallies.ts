/** Sums of feedback by version, also of calls since a time: kept as it comes, not added up anew for each look. */
import type { Tally } from "./canary/canary-rule.ts";

export interface ScoredCall {
  readonly version: string;
  /** When it began. */
  readonly at: number;
}

interface Window {
  readonly since: number;
  n: number;
  /** Whole numbers, so that what is taken away leaves what was there before. */
  units: number;
}

const unitsOfOne = 2 ** 30;
/** Times of one version that are asked for: of all, and of a trial with the one before. */
const maxWindows = 3;

export class ScoreTallies {
  readonly #byVersion = new Map<string, Window[]>();

  /** Versions that have a score. */
  versions(): readonly string[] {
    return [...this.#byVersion].flatMap(([version, windows]) =>
      windows.some(({ since, n }) => since === 0 && n > 0) ? [version] : [],
    );
  }

  /** @param by 1 for a score that counts from now on, -1 for one that no longer does; null is none */
  change({ version, at }: ScoredCall, score: number | null, by: 1 | -1): void {
    if (score === null) return;
    const windows = this.#byVersion.get(version) ?? [{ since: 0, n: 0, units: 0 }];
    this.#byVersion.set(version, windows);
    for (const window of windows) if (at >= window.since) add(window, score, by);
  }

  /** @param all what counts now, read only for a time that is asked for the first time */
  of(
    version: string,
    since: number,
    all: () => Iterable<{ readonly call: ScoredCall; readonly score: number | null }>,
  ): Tally {
    const windows = this.#byVersion.get(version);
    if (windows === undefined) return { n: 0, sum: 0 };
    let window = windows.find((one) => one.since === since);
    if (window === undefined) {
      window = { since, n: 0, units: 0 };
      for (const { call, score } of all())
        if (score !== null && call.version === version && call.at >= since) add(window, score, 1);
      // The one of all stays.
      windows.splice(1, Math.max(0, windows.length - maxWindows + 1));
      windows.push(window);
    }
    return { n: window.n, sum: window.units / unitsOfOne };
  }
}

function add(window: Window, score: number, by: 1 | -1): void {
  window.n += by;
  window.units += by * Math.round(score * unitsOfOne);
}
