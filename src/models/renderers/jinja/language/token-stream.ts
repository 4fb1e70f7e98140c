/** Tokens as a parser reads them. */
import { fail } from "./errors.ts";
import type { Token, TokenType } from "./lexer.ts";

export class TokenStream {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get current(): Token {
    return this.#tokens[this.#at]!;
  }

  get following(): Token {
    return this.#tokens[Math.min(this.#at + 1, this.#tokens.length - 1)]!;
  }

  next(): Token {
    const { current } = this;
    if (current.type !== "eof") this.#at++;
    return current;
  }

  is(type: TokenType, ...values: readonly string[]): boolean {
    const { current } = this;
    return current.type === type && (values.length === 0 || values.includes(current.value));
  }

  isOperator(...values: readonly string[]): boolean {
    return this.is("operator", ...values);
  }

  skipIf(type: TokenType, value: string): boolean {
    const found = this.is(type, value);
    if (found) this.next();
    return found;
  }

  expect(type: TokenType, value?: string): Token {
    const { current } = this;
    if (current.type === type && (value === undefined || value === current.value)) {
      return this.next();
    }
    return this.fail(`expected ${value ?? type}, got ${describe(current)}`);
  }

  fail(message: string): never {
    return fail("TemplateSyntaxError", `line ${this.current.line}: ${message}`);
  }
}

export function describe({ type, value }: Token): string {
  if (type === "eof") return "end of template";
  return value === "" ? type.replace("_", " ") : `'${value}'`;
}
