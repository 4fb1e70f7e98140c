/**
 * Text of sampled tokens as they arrive, in which markup is what was sampled as one token for it: the same
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

/** Places are counted from the beginning of the completion; each token costs the same, however long the text is. */
export class MarkedText {
  readonly #reader: TextReader;
  /** By id. */
  readonly #tokens = new Map<number, string>();
  /** Those without one. */
  readonly #texts: string[] = [];
  readonly #places = new Map<string, number[]>();
  /** All pieces of markup in the order of their ends. */
  readonly #marks: (readonly [at: number, end: number])[] = [];
  readonly #stops: readonly string[];
  readonly #kept: number;
  /** Text from `#base` on, what is not certain included. */
  #text = "";
  #base = 0;
  #end = 0;
  /** The last characters, in which markup and stop strings may begin. */
  #tail = "";
  #length = 0;
  #stopAt = -1;
  #stopString: string | undefined;
  #isWhole = false;

  constructor({ decode, idOf }: Markup, marks: readonly string[], stops: readonly string[] = []) {
    this.#reader = new TextReader(decode);
    this.#stops = stops;
    this.#kept = Math.max(maxStopLength(stops), maxStopLength(marks));
    for (const mark of marks) {
      const id = idOf?.(mark);
      if (id === undefined) this.#texts.push(mark);
      else this.#tokens.set(id, mark);
      this.#places.set(mark, []);
    }
  }

  /** Where what is certain ends: before what may be the beginning of a stop string, and at the first one. */
  get length(): number {
    return this.#length;
  }

  /** Nothing will follow. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** The stop string that is complete. */
  get stopString(): string | undefined {
    return this.#stopString;
  }

  /** Tokens up to the one that completed a stop string. */
  get tokens(): number {
    return this.#reader.length;
  }

  /** Whether the vocabulary has a token for it. */
  isToken(mark: string): boolean {
    return !this.#texts.includes(mark);
  }

  /** What is certain, from `from` on. */
  slice(from: number, to: number = this.#length): string {
    return this.#text.slice(from - this.#base, Math.max(from, to) - this.#base);
  }

  /** What is before `at` will not be asked for again. */
  release(at: number): void {
    this.#text = this.#text.slice(at - this.#base);
    this.#base = at;
  }

  /** Where the markup is, from `from` on; -1 when it is not there. */
  find(mark: string, from: number): number {
    const at = firstFrom(this.#places.get(mark) ?? [], from);
    return at + mark.length > this.#length ? -1 : at;
  }

  /** Up to where it is certain that the markup, not found so far, does not begin. */
  certainWithout(mark: string): number {
    if (this.#isWhole || this.isToken(mark)) return this.#length;
    const cut = this.#end - this.#length;
    const tail = cut === 0 ? this.#tail : this.#tail.slice(0, -cut);
    return this.#length - partialStopLength(tail, [mark]);
  }

  push(tokens: Int32Array): void {
    let start = 0;
    for (let i = 0; i < tokens.length && this.#stopAt === -1; i++) {
      const mark = this.#tokens.get(tokens[i]!);
      // Token by token, so that none is taken after a stop string.
      if (mark === undefined && this.#stops.length === 0) continue;
      this.#append(this.#reader.push(tokens.subarray(start, i)));
      this.#append(this.#reader.push(tokens.subarray(i, i + 1)), mark);
      start = i + 1;
    }
    if (this.#stopAt === -1) this.#append(this.#reader.push(tokens.subarray(start)));
    this.#cut();
  }

  finish(): void {
    this.#append(this.#reader.finish());
    this.#isWhole = true;
    this.#cut();
  }

  #append(text: string, token?: string): void {
    if (text === "") return;
    const known = this.#tail.length;
    const recent = this.#tail + text;
    const base = this.#end - known;
    this.#text += text;
    this.#end += text.length;
    this.#tail = recent.slice(-this.#kept - 1);
    for (const mark of token === undefined ? this.#texts : [...this.#texts, token]) {
      const isOwn = mark === token;
      let at = isOwn ? recent.lastIndexOf(mark) : recent.indexOf(mark);
      for (; at !== -1; at = isOwn ? -1 : recent.indexOf(mark, at + 1)) {
        if (at + mark.length <= known) continue;
        this.#places.get(mark)!.push(base + at);
        this.#marks.push([base + at, base + at + mark.length]);
      }
    }
    if (this.#stopAt !== -1) return;
    const stop = findStop(recent, this.#stops);
    if (stop === -1) return;
    this.#stopAt = base + stop;
    this.#stopString = firstStop(recent, this.#stops);
  }

  #cut(): void {
    this.#length = this.#stopAt;
    if (this.#stopAt !== -1) return;
    let end = this.#end - (this.#isWhole ? 0 : partialStopLength(this.#tail, this.#stops));
    // A piece of markup is there as a whole or not at all.
    for (let i = this.#marks.length - 1; i >= 0 && this.#marks[i]![1] > end; i--)
      end = Math.min(end, this.#marks[i]![0]);
    this.#length = end;
  }
}
