/**
 * Tokens to text as they arrive, and stop strings in it. Text that a later token may still change is not
 * yet emitted.
 */
/** Where the first stop string begins in `text`, looking from `from` on; -1 when there is none. */
export function findStop(text: string, stops: readonly string[], from = 0): number {
  let first = -1;
  for (const stop of stops) {
    const at = text.indexOf(stop, from);
    if (at !== -1 && (first === -1 || at < first)) first = at;
  }
  return first;
}

/** The stop string that `text` meets first. */
export function firstStop(text: string, stops: readonly string[]): string | undefined {
  const at = findStop(text, stops);
  return at === -1 ? undefined : stops.find((stop) => text.startsWith(stop, at));
}

/** Length of the longest end of `text` with which a stop string could begin. */
export function partialStopLength(text: string, stops: readonly string[]): number {
  let longest = 0;
  for (const stop of stops) {
    for (let n = Math.min(stop.length - 1, text.length); n > longest; n--) {
      if (text.endsWith(stop.slice(0, n))) longest = n;
    }
  }
  return longest;
}

/** Length of the longest of them; 0 when there are none. */
export function maxStopLength(stops: readonly string[]): number {
  return stops.reduce((longest, stop) => Math.max(longest, stop.length), 0);
}

const replacement = "\uFFFD";

/** Text of these tokens. */
export type Decode = (tokens: Int32Array) => string;

/** Text of a growing token sequence, in amortised constant time per token. */
export class TextReader {
  readonly #decodeTokens: Decode;
  #tokens = new Int32Array(64);
  #length = 0;
  // A token may read differently without its predecessors (spaces, split characters), so a window is
  // decoded with and without the new tokens, and the difference is new.
  #windowStart = 0;
  #readEnd = 0;

  constructor(decode: Decode) {
    this.#decodeTokens = decode;
  }

  /** Tokens so far. */
  get length(): number {
    return this.#length;
  }

  /** Returns the text that became certain. */
  push(tokens: Int32Array): string {
    this.#append(tokens);
    return this.#take(false);
  }

  /** Returns the text that no later token can change any more: all of it. */
  finish(): string {
    return this.#take(true);
  }

  #take(isLast: boolean): string {
    const known = this.#decode(this.#windowStart, this.#readEnd);
    const both = this.#decode(this.#windowStart, this.#length);
    if (both.length <= known.length || (!isLast && both.endsWith(replacement))) return "";
    const fresh = both.slice(known.length);
    this.#windowStart = this.#readEnd;
    this.#readEnd = this.#length;
    return fresh;
  }

  #decode(start: number, end: number): string {
    return start === end ? "" : this.#decodeTokens(this.#tokens.subarray(start, end));
  }

  #append(tokens: Int32Array): void {
    const length = this.#length + tokens.length;
    if (length > this.#tokens.length) {
      const grown = new Int32Array(Math.max(length, 2 * this.#tokens.length));
      grown.set(this.#tokens.subarray(0, this.#length));
      this.#tokens = grown;
    }
    this.#tokens.set(tokens, this.#length);
    this.#length = length;
  }
}
