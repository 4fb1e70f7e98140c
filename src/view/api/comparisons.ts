/** Runs against each other; types only. */

/** A mean on both sides, and the difference with its 95 % interval over tasks. */
export interface Difference {
  readonly a: number;
  readonly b: number;
  readonly difference: number;
  /** null for too few tasks. */
  readonly low: number | null;
  readonly high: number | null;
}

/** One run against another on the tasks that both have. */
export interface RunsCompared {
  /** What was compared of each: `validation after step 8`. */
  readonly a: string;
  readonly b: string;
  /** Tasks that both have; 0 where they have none in common. */
  readonly tasks: number;
  readonly reward: Difference | null;
  readonly pass: Difference | null;
  /** The second against the first, by the difference in reward; null where the test finds none. */
  readonly verdict: "better" | "worse" | null;
  /** Tasks that differ, largest difference first, with an episode of each side. */
  readonly changed: readonly {
    readonly task: string;
    readonly a: number | null;
    readonly b: number | null;
    readonly episodeA: number | null;
    readonly episodeB: number | null;
  }[];
  /** Options that differ, as JSON. */
  readonly options: Readonly<Record<string, readonly [string | null, string | null]>>;
}

/** What sets the runs apart. */
export interface RunsApart {
  /** Options that are not the same in all, with the value of each run as JSON; null where it has none. */
  readonly options: readonly {
    readonly key: string;
    readonly values: readonly (string | null)[];
  }[];
  /** Runs with the same number differ in their seed alone. */
  readonly groups: readonly number[];
}
