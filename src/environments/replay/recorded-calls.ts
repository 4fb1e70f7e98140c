/** What tools answered in production: for the same call, or the one with the nearest arguments. Pure. */

/** One call of a tool as it was made. */
export interface RecordedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly result: string;
}

export type Answer =
  | { readonly kind: "exact" | "nearest"; readonly text: string }
  | { readonly kind: "missing" };

/** The same arguments in another order are the same. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, own]) => `${JSON.stringify(key)}:${canonical(own)}`).join(",")}}`;
}

export const callKey = ({ name, arguments: given }: Omit<RecordedCall, "result">): string =>
  `${name} ${canonical(given)}`;

const maxWords = 500;

/** Names of arguments with each of their words. */
function wordsOf(given: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const words = Object.entries(given).flatMap(([key, value]) => {
    const text = typeof value === "string" ? value : canonical(value);
    return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [""]).map((word) => `${key}=${word}`);
  });
  return new Set(words.slice(0, maxWords));
}

/** Shared part of the words of two calls, from 0 to 1. */
function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const word of a) if (b.has(word)) shared++;
  const all = a.size + b.size - shared;
  return all === 0 ? 1 : shared / all;
}

/** Calls that are compared for one answer. */
const maxCompared = 2000;

export class RecordedCalls {
  readonly #exact = new Map<string, string[]>();
  readonly #byName = new Map<string, { words: ReadonlySet<string>; result: string }[]>();

  add(call: RecordedCall): void {
    const same = this.#exact.get(callKey(call));
    if (same !== undefined) return void same.push(call.result);
    this.#exact.set(callKey(call), [call.result]);
    const own = this.#byName.get(call.name) ?? [];
    own.push({ words: wordsOf(call.arguments), result: call.result });
    this.#byName.set(call.name, own);
  }

  /**
   * @param times how often the same call was made before: the next answer then, or the last one
   */
  exact(name: string, given: Readonly<Record<string, unknown>>, times: number): string | null {
    const found = this.#exact.get(callKey({ name, arguments: given }));
    return found?.[Math.min(times, found.length - 1)] ?? null;
  }

  /** Of the most similar call, if it is at least so similar. */
  nearest(name: string, given: Readonly<Record<string, unknown>>, least: number): string | null {
    const words = wordsOf(given);
    let best: string | null = null;
    let most = least;
    for (const one of (this.#byName.get(name) ?? []).slice(0, maxCompared)) {
      const found = similarity(words, one.words);
      if (found < most || (best !== null && found === most)) continue;
      [best, most] = [one.result, found];
    }
    return best;
  }
}

/** Of the task itself first: what a tool says depends on what was done before. */
export function answerOf(
  call: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> },
  records: readonly RecordedCalls[],
  { times, nearest }: { readonly times: number; readonly nearest: number },
): Answer {
  for (const record of records) {
    const text = record.exact(call.name, call.arguments, times);
    if (text !== null) return { kind: "exact", text };
  }
  for (const record of records) {
    const text = record.nearest(call.name, call.arguments, nearest);
    if (text !== null) return { kind: "nearest", text };
  }
  return { kind: "missing" };
}
