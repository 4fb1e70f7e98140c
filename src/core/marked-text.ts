/**
 * Text of sampled tokens as they arrive, in which markup is what was sampled as a token of its own: the same
 * characters in ordinary tokens are text. Only where the vocabulary has no such token is markup found by its text.
 */
import {
  findStop,
  firstStop,
  maxStopLength,
  partialStopLength,
  TextReader,
  type Decode,
} from "../util/text-reader.ts";

/** What a family's markup is made of. */
export interface Markup {
  readonly decode: Decode;
  /** The token of a piece of markup; undefined where the vocabulary has none. @default none has */
  readonly idOf?: (mark: string) => number | undefined;
}

interface Place {
  readonly at: number;
  readonly end: number;
}

/** The first of ascending `places` from `from` on; -1 when there is none. */
function firstFrom(places: readonly number[], from: number): number {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle]! < from) low = middle + 1;
    else high = middle;
  }
  return places[low] ?? -1;
}

export class MarkedText {
  readonly #reader: TextReader;
  /** By id. */
  readonly #marks = new Map<number, string>();
  readonly #places = new Map<string, number[]>();
  readonly #all: Place[] = [];
  readonly #stops: readonly string[];
  readonly #maxStopLength: number;
  #stopAt = -1;
  #isWhole = false;
  #text = "";

  constructor({ decode, idOf }: Markup, marks: readonly string[], stops: readonly string[] = []) {
    this.#reader = new TextReader(decode);
    this.#stops = stops;
    this.#maxStopLength = maxStopLength(stops);
    for (const mark of marks) {
      const id = idOf?.(mark);
      if (id === undefined) continue;
      this.#marks.set(id, mark);
      this.#places.set(mark, []);
    }
  }

  /** What is certain so far: without what may be the beginning of a stop string, and up to the first one. */
  get text(): string {
    return this.#text;
  }

  /** Nothing will follow. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** The stop string that is complete. */
  get stopString(): string | undefined {
    return this.#stopAt === -1 ? undefined : firstStop(this.#reader.text, this.#stops);
  }

  /** Tokens up to the one that completed a stop string. */
  get length(): number {
    return this.#reader.length;
  }

  /** Whether the vocabulary has a token for it. */
  isToken(mark: string): boolean {
    return this.#places.has(mark);
  }

  /** Where the markup is, from `from` on; -1 when it is not there. */
  find(mark: string, from: number): number {
    const places = this.#places.get(mark);
    const at = places ? firstFrom(places, from) : this.#text.indexOf(mark, from);
    return at + mark.length > this.#text.length ? -1 : at;
  }

  /** Up to where it is certain that the markup, not found so far, does not begin. */
  certainWithout(mark: string): number {
    if (this.#isWhole || this.isToken(mark)) return this.#text.length;
    return this.#text.length - partialStopLength(this.#text, [mark]);
  }

  push(tokens: Int32Array): void {
    let start = 0;
    for (let i = 0; i < tokens.length && this.#stopAt === -1; i++) {
      const mark = this.#marks.get(tokens[i]!);
      // Token by token, so that none is taken after a stop string.
      if (mark === undefined && this.#stops.length === 0) continue;
      this.#append(tokens.subarray(start, i));
      this.#append(tokens.subarray(i, i + 1), mark);
      start = i + 1;
    }
    if (this.#stopAt === -1) this.#append(tokens.subarray(start));
    this.#cut();
  }

  finish(): void {
    this.#reader.finish();
    this.#isWhole = true;
    this.#cut();
  }

  #append(tokens: Int32Array, mark?: string): void {
    if (tokens.length === 0) return;
    const known = this.#reader.text.length;
    this.#reader.push(tokens);
    const { text } = this.#reader;
    const at = mark === undefined ? -1 : text.lastIndexOf(mark);
    if (mark !== undefined && at >= known) {
      this.#places.get(mark)!.push(at);
      this.#all.push({ at, end: at + mark.length });
    }
    if (this.#stops.length === 0) return;
    this.#stopAt = findStop(text, this.#stops, Math.max(0, known - this.#maxStopLength + 1));
  }

  #cut(): void {
    const { text } = this.#reader;
    let end = this.#stopAt;
    if (end === -1) {
      end = text.length - (this.#isWhole ? 0 : partialStopLength(text, this.#stops));
      // A piece of markup is there as a whole or not at all.
      for (let i = this.#all.length - 1; i >= 0 && this.#all[i]!.end > end; i--)
        end = Math.min(end, this.#all[i]!.at);
    }
    this.#text = text.slice(0, end);
  }
}
