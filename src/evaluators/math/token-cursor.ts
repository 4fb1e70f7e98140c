/** A place in the tokens of an answer. */
import type { Token } from "./tokens.ts";

const maxDepth = 100;

/** Thrown where the tokens are other notation. */
export class NotAnAnswer extends Error {}

export class TokenCursor {
  readonly #tokens: Token[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = [...tokens];
  }

  peek(offset = 0): Token | undefined {
    return this.#tokens[this.#at + offset];
  }

  /** The current token, which is there, and moves past it. */
  next(): Token {
    return this.#tokens[this.#at++]!;
  }

  /** Puts `token` in the place of the current one. */
  replace(token: Token): void {
    this.#tokens[this.#at] = token;
  }

  is(kind: Token["kind"], text: string, offset = 0): boolean {
    const token = this.peek(offset);
    return token?.kind === kind && token.text === text;
  }

  isSign(...signs: readonly string[]): boolean {
    return signs.some((sign) => this.is("sign", sign));
  }

  /** Moves past the current token if it is one of these signs. */
  take(...signs: readonly string[]): boolean {
    if (!this.isSign(...signs)) return false;
    this.#at++;
    return true;
  }

  expect(...signs: readonly string[]): void {
    if (!this.take(...signs)) throw new NotAnAnswer();
  }

  nested<T>(parse: () => T): T {
    if (++this.#depth > maxDepth) throw new NotAnAnswer();
    const found = parse();
    this.#depth--;
    return found;
  }
}
