/** Tokens to text as they arrive. Text that a later token may still change is not yet emitted. */
import type { Renderer } from "../../core/policy.ts";

const replacement = "\uFFFD";

/** Text of a growing token sequence, in amortised constant time per token. */
export class TextReader {
  readonly #renderer: Pick<Renderer, "decode">;
  #tokens = new Int32Array(64);
  #length = 0;
  // A token may read differently without its predecessors (spaces, split characters), so a window is
  // decoded with and without the new tokens, and the difference is new.
  #windowStart = 0;
  #readEnd = 0;
  #text = "";

  constructor(renderer: Pick<Renderer, "decode">) {
    this.#renderer = renderer;
  }

  /** Everything that is certain so far. */
  get text(): string {
    return this.#text;
  }

  get length(): number {
    return this.#length;
  }

  /** A view; valid until the next `push`. */
  get tokens(): Int32Array {
    return this.#tokens.subarray(0, this.#length);
  }

  /** Returns the text that became certain. */
  push(tokens: Int32Array): string {
    this.#append(tokens);
    const known = this.#decode(this.#windowStart, this.#readEnd);
    const both = this.#decode(this.#windowStart, this.#length);
    if (both.length <= known.length || both.endsWith(replacement)) return "";
    const fresh = both.slice(known.length);
    this.#windowStart = this.#readEnd;
    this.#readEnd = this.#length;
    this.#text += fresh;
    return fresh;
  }

  #decode(start: number, end: number): string {
    return start === end ? "" : this.#renderer.decode(this.#tokens.subarray(start, end));
  }

  #append(tokens: Int32Array): void {
    const length = this.#length + tokens.length;
    if (length > this.#tokens.length) {
      const grown = new Int32Array(Math.max(length, 2 * this.#tokens.length));
      grown.set(this.tokens);
      this.#tokens = grown;
    }
    this.#tokens.set(tokens, this.#length);
    this.#length = length;
  }
}
