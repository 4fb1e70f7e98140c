/** Fractions of polynomials with rational coefficients, and what the symbols in them stand for. */
import { type Expression, call, literal } from "./expression.ts";
import {
  Arithmetic,
  type Rational,
  TooMuchWork,
  magnitude,
  negative,
  one,
  whole,
  zero,
} from "./rational.ts";

export interface Term {
  readonly factor: Rational;
  /** The power of each symbol. */
  readonly powers: ReadonlyMap<string, number>;
}
export type Polynomial = ReadonlyMap<string, Term>;
export interface Form {
  readonly top: Polynomial;
  readonly bottom: Polynomial;
}

/** What a symbol stands for. `degree` and `value`: its power that is a whole number. */
export interface Atom {
  readonly tree: Expression;
  readonly kind: "variable" | "constant" | "root" | "opaque";
  readonly degree?: number;
  readonly value?: bigint;
}

const maxTerms = 300;
const primes = Array.from({ length: 998 }, (_, i) => i + 2).filter((n) => {
  for (let d = 2; d * d <= n; d++) if (n % d === 0) return false;
  return true;
});

const constant = (factor: Rational): Polynomial =>
  factor.n === 0n ? new Map() : new Map([["", { factor, powers: new Map() }]]);
const unit = constant(one);
export const number = (factor: Rational): Form => ({ top: constant(factor), bottom: unit });

/** The value of a form without symbols; null for others. */
export function rationalOf({ top, bottom }: Form): Rational | null {
  if (bottom !== unit || top.size > 1) return null;
  const [term] = top.values();
  if (term === undefined) return zero;
  return term.powers.size === 0 ? term.factor : null;
}

/** The square root of -1. */
export const imaginary: Atom = {
  kind: "root",
  degree: 2,
  value: -1n,
  tree: { kind: "name", name: "i" },
};

/** Their arithmetic, which ends with {@link TooMuchWork} where they become too large. */
export class Polynomials {
  readonly math: Arithmetic = new Arithmetic();
  readonly symbols: Map<string, Atom> = new Map();
  readonly #names = new Map<string, string>();

  symbol(name: string, symbol: Atom, exponent = 1): Form {
    this.symbols.set(name, symbol);
    const powers = new Map([[name, exponent]]);
    return { top: new Map([[keyOf(powers), { factor: one, powers }]]), bottom: unit };
  }

  opaque(name: string, args: readonly Form[], tree: Expression): Form {
    const text = `${name}(${args.map(textOf).join(";")})`;
    // Short names: those of nested functions would otherwise grow with every level.
    const short = this.#names.get(text) ?? `#${this.#names.size}`;
    this.#names.set(text, short);
    return this.symbol(short, { kind: "opaque", tree });
  }

  raised(base: Form, exponent: number): Form {
    const value = rationalOf(base);
    if (value !== null) return number(this.math.power(value, exponent));
    let result = number(one);
    let square = base;
    for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
      if (rest % 2 === 1) result = this.times(result, square);
      if (rest > 1) square = this.times(square, square);
    }
    return result;
  }

  /** The root of a rational number, by its prime factors; null where it is not real. */
  root(radicand: Rational, degree: number): Form | null {
    if (degree > 100) return null;
    // The root of p/q is that of p q^(degree - 1), divided by q.
    if (radicand.d.toString(16).length * degree > 5_000) throw new TooMuchWork();
    const inner = radicand.n * radicand.d ** BigInt(degree - 1);
    let result = number({ n: 1n, d: radicand.d });
    if (inner === 0n) return number(zero);
    if (inner < 0n && degree % 2 === 1) result = number({ n: -1n, d: radicand.d });
    else if (inner < 0n && degree !== 2) return null;
    else if (inner < 0n) result = this.times(result, this.symbol("i", imaginary));
    let rest = magnitude(inner);
    const factors: [bigint, number][] = [];
    for (const prime of primes) {
      const divisor = BigInt(prime);
      let count = 0;
      for (; rest % divisor === 0n; count++) rest /= divisor;
      if (count > 0) factors.push([divisor, count]);
      if (rest === 1n) break;
    }
    this.math.spend(1e6);
    if (rest > 1n) {
      const exact = integerRoot(rest, degree);
      factors.push(exact === null ? [rest, 1] : [exact, degree]);
    }
    for (const [factor, count] of factors) {
      const outside = factor ** BigInt(Math.floor(count / degree));
      if (outside > 1n) result = this.times(result, number(whole(outside)));
      if (count % degree === 0) continue;
      const tree = call("root", literal(whole(factor)), literal(whole(degree)));
      const symbol: Atom = { kind: "root", degree, value: factor, tree };
      result = this.times(
        result,
        this.symbol(`root ${degree} of ${factor}`, symbol, count % degree),
      );
    }
    return result;
  }

  added(a: Form, b: Form, sign: 1 | -1): Form {
    if (a.bottom === b.bottom) return { top: this.sum(a.top, b.top, sign), bottom: a.bottom };
    const top = this.sum(this.product(a.top, b.bottom), this.product(b.top, a.bottom), sign);
    return { top, bottom: this.product(a.bottom, b.bottom) };
  }

  times(a: Form, b: Form): Form {
    return { top: this.product(a.top, b.top), bottom: this.product(a.bottom, b.bottom) };
  }

  inverse({ top, bottom }: Form): Form {
    if (top.size === 0) throw new TooMuchWork();
    const [first] = top.values();
    if (top.size === 1 && first!.powers.size === 0) {
      return {
        top: this.product(bottom, constant(this.math.divide(one, first!.factor))),
        bottom: unit,
      };
    }
    return { top: bottom, bottom: top };
  }

  sum(a: Polynomial, b: Polynomial, sign: 1 | -1): Polynomial {
    if (a.size === 0 && sign === 1) return b;
    if (b.size === 0) return a;
    const result = new Map(a);
    for (const [key, { factor, powers }] of b) {
      const signed = sign === 1 ? factor : negative(factor);
      const total = this.math.add(result.get(key)?.factor ?? zero, signed);
      if (total.n === 0n) result.delete(key);
      else result.set(key, { factor: total, powers });
    }
    this.math.spend(a.size * 1_000);
    if (result.size > maxTerms) throw new TooMuchWork();
    return result;
  }

  product(a: Polynomial, b: Polynomial): Polynomial {
    if (a === unit) return b;
    if (b === unit) return a;
    const result = new Map<string, Term>();
    for (const left of a.values()) {
      for (const right of b.values()) {
        const powers = new Map(left.powers);
        let factor = this.math.multiply(left.factor, right.factor);
        for (const [name, exponent] of right.powers) {
          const total = (powers.get(name) ?? 0) + exponent;
          if (total > 1_000_000) throw new TooMuchWork();
          factor = this.#setPower(powers, name, total, factor);
        }
        const key = keyOf(powers);
        this.math.spend(powers.size * 2_000);
        const sum = this.math.add(result.get(key)?.factor ?? zero, factor);
        if (sum.n === 0n) result.delete(key);
        else result.set(key, { factor: sum, powers });
        if (result.size > maxTerms) throw new TooMuchWork();
      }
    }
    return result;
  }

  /** Sets a power, and takes out of it what is a number: the square of the root of 2. */
  #setPower(
    powers: Map<string, number>,
    name: string,
    exponent: number,
    factor: Rational,
  ): Rational {
    const { degree = Infinity, value = 1n } = this.symbols.get(name)!;
    const rest = degree === Infinity ? exponent : exponent % degree;
    if (rest === 0) powers.delete(name);
    else powers.set(name, rest);
    if (rest === exponent) return factor;
    const outside = this.math.power(whole(value), Math.floor(exponent / degree));
    return this.math.multiply(factor, outside);
  }
}

const keyOf = (powers: ReadonlyMap<string, number>): string =>
  [...powers]
    .map(([name, exponent]) => (exponent === 1 ? name : `${name}^${exponent}`))
    .toSorted()
    .join("*");

/** The same text for the same form. */
const textOf = ({ top, bottom }: Form): string =>
  [top, bottom]
    .map((polynomial) =>
      [...polynomial]
        .map(([key, { factor }]) => `${factor.n}/${factor.d} ${key}`)
        .toSorted()
        .join("+"),
    )
    .join(" over ");

/** The root that is a whole number; null where there is none. */
function integerRoot(n: bigint, degree: number): bigint | null {
  const power = BigInt(degree);
  let high = 1n << BigInt(Math.ceil((n.toString(16).length * 4) / degree) + 1);
  // Newton's method from above.
  for (;;) {
    const next = ((power - 1n) * high + n / high ** (power - 1n)) / power;
    if (next >= high) break;
    high = next;
  }
  return high ** power === n ? high : null;
}
