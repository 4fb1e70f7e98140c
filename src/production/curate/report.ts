/** What a curated folder has and what it lacks, as numbers: `report.json`. */
import type { CuratedName } from "./curated-files.ts";

export type Counts = Readonly<Record<string, number>>;

/** Quartiles and ends. */
export interface Quantiles {
  readonly min: number;
  readonly p25: number;
  readonly median: number;
  readonly p75: number;
  readonly p95: number;
  readonly max: number;
}

/** What a curated folder has and what it lacks. */
export interface CurateReport {
  readonly version: 1;
  readonly folder: string;
  readonly spans: number;
  readonly traces: number;
  readonly conversations: number;
  /** Distinct, where turns name one. */
  readonly users: number;
  readonly turns: number;
  readonly subAgentTurns: number;
  /** Model calls without text, that failed, or that repeat a prompt. */
  readonly calls: {
    readonly withoutText: number;
    readonly failed: number;
    readonly retries: number;
  };
  /** Why turns are in no file. */
  readonly dropped: Counts;
  /** Turns in files whose record does not say how the answer ended. */
  readonly unknownEnds: number;
  readonly feedback: {
    readonly records: number;
    /** About a turn that is here. */
    readonly matched: number;
    readonly good: number;
    readonly bad: number;
    readonly corrections: number;
    /** Numbers of the records that are about no turn yet, or one that has not ended; at most the newest 100,000. */
    readonly unused: readonly number[];
  };
  /** Turns by day (UTC). */
  readonly days: Counts;
  readonly languages: Counts;
  readonly models: Counts;
  readonly tools: Readonly<Record<string, { readonly calls: number; readonly failed: number }>>;
  /** Characters of prompts and answers, and messages of a turn. */
  readonly lengths: Readonly<Record<"prompt" | "answer" | "messages", Quantiles | null>>;
  /** Different values that were replaced, by kind. */
  readonly personalData: Counts;
  /** Rows of the files, without duplicates. */
  readonly rows: Readonly<Record<CuratedName, { readonly train: number; readonly val: number }>>;
  readonly duplicates: number;
  /** What is missing and what to do about it, one sentence each. */
  readonly missing: readonly string[];
}

export class Tally {
  readonly #counts = new Map<string, number>();

  add(name: string, by = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + by);
  }

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** The most frequent first; those after the first `limit` together as "other". */
  counts(limit = 50): Counts {
    const sorted = [...this.#counts].toSorted(([, a], [, b]) => b - a);
    const rest = sorted.slice(limit).reduce((sum, [, count]) => sum + count, 0);
    const kept = Object.fromEntries(sorted.slice(0, limit));
    return rest === 0 ? kept : { ...kept, other: (kept["other"] ?? 0) + rest };
  }

  byName(): Counts {
    return Object.fromEntries([...this.#counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
}

export function quantilesOf(values: readonly number[]): Quantiles | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))]!;
  return { min: at(0), p25: at(0.25), median: at(0.5), p75: at(0.75), p95: at(0.95), max: at(1) };
}

/** What stands between these rows and a better model. */
export function missingIn(report: Omit<CurateReport, "missing">): readonly string[] {
  const { turns, calls, feedback, rows, users } = report;
  const missing: string[] = [];
  const say = (isMissing: boolean, sentence: string): void => {
    if (isMissing) missing.push(sentence);
  };
  say(
    turns === 0,
    "No turn has text. Turn on the recording of content where the traces are made (AI SDK: experimental_telemetry.recordInputs; OpenTelemetry: OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true).",
  );
  say(
    turns > 0 && calls.withoutText > 0,
    `${calls.withoutText} model calls have no text: a part of the program does not record it.`,
  );
  const { unknownEnds } = report;
  say(
    unknownEnds > 0,
    `${unknownEnds} answers do not say how they ended, and were taken: record the finish reason, since one that a limit cut off looks like any other.`,
  );
  say(
    turns > 0 && feedback.records === 0,
    "There is no feedback. Send some to /feedback with the trace's id, or score the answers with a judge; --unrated takes answers that nothing is known about as demonstrations.",
  );
  say(
    feedback.records > feedback.matched,
    `${feedback.records - feedback.matched} of ${feedback.records} pieces of feedback are about no turn that is here: compare their ids with those of the traces.`,
  );
  say(
    feedback.good + feedback.bad > 0 && (feedback.good === 0 || feedback.bad === 0),
    `All feedback is ${feedback.good === 0 ? "bad" : "good"}: kto needs both.`,
  );
  say(
    turns > 0 && feedback.corrections === 0,
    "There are no corrections, so preferences.jsonl is empty: let people edit an answer, and send what they made of it as correction.",
  );
  say(
    turns > 0 && users === 0,
    "No turn names a user, so conversations were split instead: record user.id to keep one person on one side.",
  );
  say(
    turns > 0 && rows.tasks.val === 0,
    "Nothing is held out, so what is trained cannot be compared: raise --val-fraction, or collect more.",
  );
  return missing;
}
