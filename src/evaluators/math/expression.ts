/** Formulas as trees: the parser. Names are variables unless they are functions or constants. */
import { type MathToken, mathTokens } from "./latex-tokens.ts";

/** A formula. */
export type Expression =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "call"; readonly name: string; readonly args: readonly Expression[] };

const maxDepth = 100;
const functions = new Set(
  "asin acos atan sinh cosh tanh sin cos tan sec csc cot log ln exp abs".split(" "),
);
const greek = new Set(
  (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta kappa lambda mu nu xi rho sigma tau " +
    "phi varphi chi psi omega Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega ell"
  ).split(" "),
);

class NotAFormula extends Error {}

const call = (name: string, ...args: readonly Expression[]): Expression => ({
  kind: "call",
  name,
  args,
});
const literal = (value: number): Expression => ({ kind: "number", value });

/** The tree of a formula; null where the text is no formula, or nested more than 100 levels deep. */
export function parseExpression(text: string): Expression | null {
  const tokens = mathTokens(text);
  if (tokens === null || tokens.length === 0) return null;
  try {
    return new Parser(tokens).whole();
  } catch (error) {
    if (error instanceof NotAFormula) return null;
    throw error;
  }
}

class Parser {
  readonly #tokens: MathToken[];
  #at = 0;
  #depth = 0;
  /** Inside of bars, a bar ends the factor and does not open another one. */
  #bars = 0;

  constructor(tokens: readonly MathToken[]) {
    this.#tokens = [...tokens];
  }

  whole(): Expression {
    const found = this.#sum();
    if (this.#at < this.#tokens.length) throw new NotAFormula();
    return found;
  }

  #peek(offset = 0): MathToken | undefined {
    return this.#tokens[this.#at + offset];
  }

  #isSign(...signs: readonly string[]): boolean {
    const token = this.#peek();
    return token?.kind === "sign" && signs.includes(token.text);
  }

  #take(sign: string): boolean {
    if (!this.#isSign(sign)) return false;
    this.#at++;
    return true;
  }

  #expect(sign: string): void {
    if (!this.#take(sign)) throw new NotAFormula();
  }

  #nested<T>(parse: () => T): T {
    if (++this.#depth > maxDepth) throw new NotAFormula();
    const found = parse();
    this.#depth--;
    return found;
  }

  #sum(): Expression {
    return this.#nested(() => {
      let left = this.#product();
      for (;;) {
        if (this.#take("+")) left = call("+", left, this.#product());
        else if (this.#take("-")) left = call("-", left, this.#product());
        else return left;
      }
    });
  }

  #product(): Expression {
    let left = this.#signed();
    for (;;) {
      if (this.#take("*")) left = call("*", left, this.#signed());
      else if (this.#take("/")) left = call("/", left, this.#signed());
      else if (this.#startsFactor()) left = this.#adjacent(left);
      else return left;
    }
  }

  /** `2x` is a product, and `1\frac{1}{2}` a mixed number. */
  #adjacent(left: Expression): Expression {
    const before = this.#tokens[this.#at - 1];
    const isMixed = before?.kind === "number" && this.#peek()?.text === "frac";
    const right = this.#power();
    const isFraction =
      right.kind === "call" &&
      right.name === "/" &&
      right.args.every((one) => one.kind === "number");
    return isMixed && isFraction && left.kind === "number"
      ? call("+", left, right)
      : call("*", left, right);
  }

  #startsFactor(): boolean {
    const token = this.#peek();
    if (token === undefined) return false;
    if (token.kind === "sign") {
      return (
        token.text === "(" ||
        token.text === "{" ||
        token.text === "[" ||
        (token.text === "|" && this.#bars === 0)
      );
    }
    // Two numbers next to each other are no product.
    return token.kind !== "number" || this.#tokens[this.#at - 1]?.kind !== "number";
  }

  #signed(): Expression {
    return this.#nested(() => {
      if (this.#take("-")) return call("-", literal(0), this.#signed());
      if (this.#take("+")) return this.#signed();
      return this.#power();
    });
  }

  #power(): Expression {
    return this.#nested(() => {
      let base = this.#primary();
      for (;;) {
        if (this.#take("!")) base = call("!", base);
        else if (this.#take("%")) base = call("/", base, literal(100));
        else if (this.#take("^")) return call("^", base, this.#exponent());
        else return base;
      }
    });
  }

  #exponent(): Expression {
    return this.#isSign("-", "+") ? this.#signed() : this.#power();
  }

  /** `\frac12` and `\sqrt23` take a single digit, as LaTeX does. */
  #digit(): Expression | null {
    const token = this.#peek();
    if (token?.kind !== "number" || !/^\d+$/u.test(token.text)) return null;
    const [digit = "", ...rest] = token.text;
    if (rest.length === 0) this.#at++;
    else this.#tokens[this.#at] = { kind: "number", text: rest.join("") };
    return literal(Number(digit));
  }

  #argument(): Expression {
    if (!this.#take("{")) return this.#digit() ?? this.#primary();
    const found = this.#sum();
    this.#expect("}");
    return found;
  }

  #enclosed(close: string): Expression {
    const bars = this.#bars;
    this.#bars = 0;
    const found = this.#sum();
    this.#bars = bars;
    this.#expect(close);
    return found;
  }

  #primary(): Expression {
    const token = this.#peek();
    if (token === undefined) throw new NotAFormula();
    this.#at++;
    if (token.kind === "number") return literal(Number(token.text));
    if (token.kind === "name") return this.#name(token.text);
    if (token.kind === "command") return this.#command(token.text);
    if (token.text === "(") return this.#enclosed(")");
    if (token.text === "{") return this.#enclosed("}");
    if (token.text === "[") return this.#enclosed("]");
    if (token.text !== "|") throw new NotAFormula();
    this.#bars++;
    const found = this.#sum();
    this.#bars--;
    this.#expect("|");
    return call("abs", found);
  }

  #name(name: string): Expression {
    if (name === "pi") return literal(Math.PI);
    if (name === "e") return literal(Math.E);
    if (name === "sqrt") return this.#root();
    if (functions.has(name)) return this.#function(name);
    return { kind: "variable", name: name + this.#subscript() };
  }

  #command(name: string): Expression {
    if (name === "frac") return call("/", this.#argument(), this.#argument());
    if (name === "binom") return call("binom", this.#argument(), this.#argument());
    if (greek.has(name)) return { kind: "variable", name: name + this.#subscript() };
    throw new NotAFormula();
  }

  #root(): Expression {
    const degree = this.#take("[") ? this.#enclosed("]") : literal(2);
    const radicand = this.#take("(") ? this.#enclosed(")") : this.#argument();
    return call("root", radicand, degree);
  }

  #function(name: string): Expression {
    const base = name === "log" && this.#take("_") ? this.#argument() : null;
    const power = this.#take("^") ? this.#exponent() : null;
    const argument = this.#isSign("(", "{", "[", "|") ? this.#primary() : this.#bareArgument();
    const plain =
      base === null ? call(name, argument) : call("/", call("ln", argument), call("ln", base));
    if (power === null) return plain;
    // `\sin^{-1}` is the inverse.
    const isInverse =
      power.kind === "call" &&
      power.name === "-" &&
      isOne(power.args[1]) &&
      functions.has(`a${name}`);
    return isInverse ? call(`a${name}`, argument) : call("^", plain, power);
  }

  /** `\sin 2x + 1` is sin(2x) + 1, and `\sin x \cos x` is a product. */
  #bareArgument(): Expression {
    return this.#nested(() => {
      let left = this.#take("-") ? call("-", literal(0), this.#power()) : this.#power();
      for (;;) {
        const next = this.#peek();
        const isFactor = this.#startsFactor() && !(next?.kind === "sign" && next.text !== "{");
        if (!isFactor || (next !== undefined && functions.has(next.text))) break;
        left = call("*", left, this.#power());
      }
      return left;
    });
  }

  #subscript(): string {
    if (!this.#take("_")) return "";
    if (!this.#take("{")) return `_${this.#word()}`;
    let name = "_";
    while (!this.#take("}")) name += this.#word();
    return name;
  }

  #word(): string {
    const token = this.#peek();
    if (token === undefined || token.kind === "sign") throw new NotAFormula();
    this.#at++;
    return token.text;
  }
}

const isOne = (expression: Expression | undefined): boolean =>
  expression?.kind === "number" && expression.value === 1;
