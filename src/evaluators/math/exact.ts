/**
 * Exact forms of formulas: fractions of polynomials with rational coefficients, in variables, constants,
 * roots of primes, and parts that have no exact form (functions), which are compared by their values.
 */
import { type Complex, add, evaluate, pointCount, sizeOf, times } from "./numeric.ts";
import { type Expression, call, literal } from "./parse.ts";
import {
  Arithmetic,
  type Rational,
  TooMuchWork,
  asSmall,
  gcd,
  isInteger,
  isSame,
  magnitude,
  negative,
  one,
  toDouble,
  whole,
  zero,
} from "./rational.ts";

interface Term {
  readonly factor: Rational;
  /** The power of each symbol. */
  readonly powers: ReadonlyMap<string, number>;
}
type Polynomial = ReadonlyMap<string, Term>;
interface Form {
  readonly top: Polynomial;
  readonly bottom: Polynomial;
}

/** `degree` and `value`: the power of the symbol that is a whole number. */
interface Symbol {
  readonly tree: Expression;
  readonly kind: "variable" | "constant" | "root" | "opaque";
  readonly degree?: number;
  readonly value?: bigint;
}

const maxTerms = 300;
const tolerance = 1e-10;
const primes = Array.from({ length: 998 }, (_, i) => i + 2).filter((n) => {
  for (let d = 2; d * d <= n; d++) if (n % d === 0) return false;
  return true;
});

const constant = (factor: Rational): Polynomial =>
  factor.n === 0n ? new Map() : new Map([["", { factor, powers: new Map() }]]);
const unit = constant(one);
const number = (factor: Rational): Form => ({ top: constant(factor), bottom: unit });

/** The value of a form without symbols; null for others. */
function rationalOf({ top, bottom }: Form): Rational | null {
  if (bottom !== unit || top.size > 1) return null;
  const [term] = top.values();
  if (term === undefined) return zero;
  return term.powers.size === 0 ? term.factor : null;
}

/** The comparison of two answers: what it has computed, and how much work it may still do. */
export class Comparison {
  readonly #math = new Arithmetic();
  readonly #symbols = new Map<string, Symbol>();
  readonly #names = new Map<string, string>();
  readonly #forms = new Map<Expression, Form | null>();
  #isComplex = false;

  /** Whether two formulas have the same value for all values of their variables. */
  areEqual(left: Expression, right: Expression): boolean {
    const cross = this.#crossed(left, right);
    if (cross === null) return this.#agree(left, right);
    if (cross.size === 0) return true;
    if (this.#isIndependent(cross)) return false;
    return this.#isZeroAtPoints(cross);
  }

  /**
   * Whether one is a constant multiple of the other, so that both are 0 for the same values; the sign of
   * the factor, or 0.
   */
  proportion(left: Expression, right: Expression): number {
    const [a, b] = [this.#form(left)?.top, this.#form(right)?.top];
    if (a === undefined || b === undefined || a.size === 0 || b.size === 0) return 0;
    const [key, first] = a.entries().next().value!;
    const second = b.get(key);
    const isSimple = this.#isIndependent(a) && this.#isIndependent(b);
    if (second !== undefined && a.size === b.size) {
      const ratio = this.#math.divide(first.factor, second.factor);
      const isMultiple = [...a].every(([at, { factor }]) => {
        const other = b.get(at);
        return other !== undefined && isSame(factor, this.#math.multiply(other.factor, ratio));
      });
      if (isMultiple) return ratio.n > 0n ? 1 : -1;
    }
    const hasVariablesOnly = [...this.#used(a), ...this.#used(b)].every(
      ({ kind }) => kind === "variable",
    );
    return isSimple && hasVariablesOnly ? 0 : this.#ratioAtPoints(a, b);
  }

  /** The value of a formula without variables as a double; NaN for others. */
  approximately(tree: Expression): number {
    const form = this.#form(tree);
    if (form === null) return Number.NaN;
    const symbols = [...this.#used(form.top), ...this.#used(form.bottom)];
    if (symbols.some((symbol) => hasVariable(symbol.tree))) return Number.NaN;
    const [value, imaginary] = evaluate(tree, 0, false);
    return imaginary === 0 ? value : Number.NaN;
  }

  #crossed(left: Expression, right: Expression): Polynomial | null {
    const [a, b] = [this.#form(left), this.#form(right)];
    if (a === null || b === null) return null;
    return this.#attempt(() =>
      this.#sum(this.#product(a.top, b.bottom), this.#product(b.top, a.bottom), -1),
    );
  }

  #attempt<T>(compute: () => T): T | null {
    try {
      return compute();
    } catch (error) {
      if (error instanceof TooMuchWork) return null;
      throw error;
    }
  }

  #form(tree: Expression): Form | null {
    const known = this.#forms.get(tree);
    if (known !== undefined) return known;
    const form = this.#attempt(() => this.#build(tree));
    this.#forms.set(tree, form);
    return form;
  }

  #used(polynomial: Polynomial): readonly Symbol[] {
    const names = new Set([...polynomial.values()].flatMap(({ powers }) => [...powers.keys()]));
    return [...names].map((name) => this.#symbols.get(name)!);
  }

  /** Whether a polynomial that is not 0 has a value other than 0, for certain. */
  #isIndependent(polynomial: Polynomial): boolean {
    const used = this.#used(polynomial);
    const count = (is: (symbol: Symbol) => boolean): number => used.filter(is).length;
    return (
      count(({ kind }) => kind === "opaque") === 0 &&
      count(({ kind }) => kind === "constant") <= 1 &&
      count(({ kind, degree }) => kind === "root" && degree !== 2) === 0 &&
      // Large parts that were not factored may have a common factor.
      count(({ value = 0n }) => value > 1_000_000n) <= 1
    );
  }

  // Values at points.

  #valueOf(polynomial: Polynomial, point: number): { value: Complex; size: number } {
    let value: Complex = [0, 0];
    let size = 0;
    const values = new Map<string, Complex>();
    let largest = zero;
    for (const { factor } of polynomial.values()) {
      if (magnitude(factor.n) * largest.d > largest.n * factor.d) {
        largest = { n: magnitude(factor.n), d: factor.d };
      }
    }
    for (const { factor, powers } of polynomial.values()) {
      let term: Complex = [toDouble(this.#math.divide(factor, largest)), 0];
      for (const [name, exponent] of powers) {
        const base =
          values.get(name) ?? evaluate(this.#symbols.get(name)!.tree, point, this.#isComplex);
        values.set(name, base);
        for (let i = 0; i < Math.min(exponent, 1_000); i++) term = times(term, base);
      }
      value = add(value, term);
      size += sizeOf(term);
    }
    return { value, size };
  }

  #isZeroAtPoints(polynomial: Polynomial): boolean {
    let compared = 0;
    for (let point = 0; point < pointCount; point++) {
      const found = this.#attempt(() => this.#valueOf(polynomial, point));
      if (found === null || found.size === Infinity) return false;
      if (Number.isNaN(found.size)) continue;
      if (sizeOf(found.value) > tolerance * found.size) return false;
      compared++;
    }
    return compared > 1;
  }

  #ratioAtPoints(left: Polynomial, right: Polynomial): number {
    const ratios: number[] = [];
    for (let point = 0; point < pointCount; point++) {
      const [a, b] = [left, right].map(
        (polynomial) => this.#attempt(() => this.#valueOf(polynomial, point))?.value ?? [0, 0],
      );
      const ratio = a![0] / b![0];
      if (Number.isNaN(ratio) || a![1] !== 0 || b![1] !== 0) continue;
      if (!Number.isFinite(ratio) || ratio === 0) return 0;
      ratios.push(ratio);
    }
    const [first = 0] = ratios;
    const isConstant = ratios.every((one) => Math.abs(one - first) <= tolerance * Math.abs(first));
    return ratios.length > 2 && isConstant ? Math.sign(first) : 0;
  }

  /** For formulas whose exact form would be too large. Numbers alone are then not held equal. */
  #agree(left: Expression, right: Expression): boolean {
    if (!hasVariable(left) || !hasVariable(right)) return false;
    let compared = 0;
    for (let point = 0; point < pointCount; point++) {
      const a = evaluate(left, point, this.#isComplex);
      const b = evaluate(right, point, this.#isComplex);
      const [size, difference] = [sizeOf(a) + sizeOf(b), sizeOf(add(a, times([-1, 0], b)))];
      if (Number.isNaN(size)) continue;
      if (size === Infinity || difference > tolerance * size) return false;
      compared++;
    }
    return compared > 1;
  }

  // Exact forms.

  #symbol(name: string, symbol: Symbol, exponent = 1): Form {
    this.#symbols.set(name, symbol);
    const powers = new Map([[name, exponent]]);
    return { top: new Map([[keyOf(powers), { factor: one, powers }]]), bottom: unit };
  }

  #opaque(name: string, args: readonly Form[], tree: Expression): Form {
    const text = `${name}(${args.map(textOf).join(";")})`;
    // Short names: those of nested functions would otherwise grow with every level.
    const short = this.#names.get(text) ?? `#${this.#names.size}`;
    this.#names.set(text, short);
    return this.#symbol(short, { kind: "opaque", tree });
  }

  #build(tree: Expression): Form {
    if (tree.kind === "number") return number(tree.value);
    if (tree.kind !== "call") return this.#name(tree);
    // A formula may be a chain of thousands of sums: its left part has no depth here.
    const args: Form[] = [];
    for (const arg of tree.args) {
      const form = this.#form(arg);
      if (form === null) throw new TooMuchWork();
      args.push(form);
    }
    const [a, b] = args;
    if (tree.name.startsWith("unit ")) return a!;
    if (tree.name === "+" || tree.name === "-")
      return this.#added(a!, b!, tree.name === "+" ? 1 : -1);
    if (tree.name === "*") return this.#times(a!, b!);
    if (tree.name === "/") return this.#times(a!, this.#inverse(b!));
    if (tree.name === "^") return this.#power(a!, b!, tree);
    if (tree.name === "root") return this.#power(a!, this.#inverse(b!), tree);
    if (tree.name === "deg") {
      return this.#times(
        a!,
        this.#build(call("/", { kind: "name", name: "pi" }, literal(whole(180)))),
      );
    }
    return this.#function(tree.name, args) ?? this.#opaque(tree.name, args, tree);
  }

  #name(tree: Expression & { name: string }): Form {
    const { name } = tree;
    if (name === "i") {
      this.#isComplex = true;
      return this.#symbol("i", { kind: "root", degree: 2, value: -1n, tree });
    }
    return this.#symbol(name, {
      kind: name === "pi" || name === "e" ? "constant" : "variable",
      tree,
    });
  }

  #function(name: string, args: readonly Form[]): Form | null {
    const values = args.map(rationalOf);
    if (values.length === 0 || values.includes(null)) return null;
    const [a = zero, b] = values as readonly Rational[];
    const exact = (n: bigint): Form => number(whole(n));
    const floor = a.n >= 0n || isInteger(a) ? a.n / a.d : a.n / a.d - 1n;
    if (name === "abs") return number(a.n < 0n ? negative(a) : a);
    if (name === "floor") return exact(floor);
    if (name === "ceil") return exact(isInteger(a) ? a.n : floor + 1n);
    const [n, k] = [asSmall(a), b === undefined ? null : asSmall(b)];
    if ((name === "!" || name === "!!") && n !== null && n >= 0) {
      return exact(this.#math.factorial(n, name === "!" ? 1 : 2));
    }
    if (name === "binom" && n !== null && k !== null && n >= 0)
      return exact(this.#math.binomial(n, k));
    const all = values as readonly Rational[];
    if (name === "fn gcd" && all.every(isInteger))
      return exact(all.map(({ n: m }) => m).reduce(gcd));
    if (name === "fn lcm" && all.every(({ n: m, d }) => d === 1n && m !== 0n)) {
      return exact(all.map(({ n: m }) => m).reduce((x, y) => magnitude(x * y) / gcd(x, y)));
    }
    if (name === "fn max" || name === "fn min") {
      const isMore = (x: Rational, y: Rational): boolean =>
        x.n * y.d > y.n * x.d === (name === "fn max");
      return number(all.reduce((x, y) => (isMore(y, x) ? y : x)));
    }
    return null;
  }

  #power(base: Form, exponent: Form, tree: Expression): Form {
    const value = rationalOf(exponent);
    const degree = value === null ? null : asSmall(whole(value.d));
    const size = value === null ? null : asSmall(whole(value.n));
    if (value === null || size === null || degree === null || Math.abs(size) > 100_000) {
      if (value !== null && rationalOf(base) !== null) throw new TooMuchWork();
      return this.#opaque("^", [base, exponent], tree);
    }
    const raised = size < 0 ? this.#raised(this.#inverse(base), -size) : this.#raised(base, size);
    if (degree === 1) return raised;
    const radicand = rationalOf(raised);
    const root = radicand === null ? null : this.#root(radicand, degree);
    const reduced = call(
      "root",
      tree.kind === "call" ? tree.args[0]! : tree,
      literal(whole(degree)),
    );
    const asTree = size === 1 ? reduced : tree;
    return root ?? this.#opaque(`root ${degree}`, [raised], asTree);
  }

  #raised(base: Form, exponent: number): Form {
    const value = rationalOf(base);
    if (value !== null) return number(this.#math.power(value, exponent));
    let result = number(one);
    let square = base;
    for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
      if (rest % 2 === 1) result = this.#times(result, square);
      if (rest > 1) square = this.#times(square, square);
    }
    return result;
  }

  /** The root of a rational number, by its prime factors; null where it is not real. */
  #root(radicand: Rational, degree: number): Form | null {
    if (degree > 100) return null;
    // The root of p/q is that of p q^(degree - 1), divided by q.
    if (radicand.d.toString(16).length * degree > 5_000) throw new TooMuchWork();
    const inner = radicand.n * radicand.d ** BigInt(degree - 1);
    let result = number({ n: 1n, d: radicand.d });
    if (inner === 0n) return number(zero);
    if (inner < 0n && degree % 2 === 1) result = number({ n: -1n, d: radicand.d });
    else if (inner < 0n && degree !== 2) return null;
    else if (inner < 0n) result = this.#times(result, this.#name({ kind: "name", name: "i" }));
    let rest = magnitude(inner);
    const factors: [bigint, number][] = [];
    for (const prime of primes) {
      const divisor = BigInt(prime);
      let count = 0;
      for (; rest % divisor === 0n; count++) rest /= divisor;
      if (count > 0) factors.push([divisor, count]);
      if (rest === 1n) break;
    }
    this.#math.spend(1e6);
    if (rest > 1n) {
      const exact = integerRoot(rest, degree);
      factors.push(exact === null ? [rest, 1] : [exact, degree]);
    }
    for (const [factor, count] of factors) {
      const outside = factor ** BigInt(Math.floor(count / degree));
      if (outside > 1n) result = this.#times(result, number(whole(outside)));
      if (count % degree === 0) continue;
      const tree = call("root", literal(whole(factor)), literal(whole(degree)));
      const symbol: Symbol = { kind: "root", degree, value: factor, tree };
      result = this.#times(
        result,
        this.#symbol(`root ${degree} of ${factor}`, symbol, count % degree),
      );
    }
    return result;
  }

  #added(a: Form, b: Form, sign: 1 | -1): Form {
    if (a.bottom === b.bottom) return { top: this.#sum(a.top, b.top, sign), bottom: a.bottom };
    const top = this.#sum(this.#product(a.top, b.bottom), this.#product(b.top, a.bottom), sign);
    return { top, bottom: this.#product(a.bottom, b.bottom) };
  }

  #times(a: Form, b: Form): Form {
    return { top: this.#product(a.top, b.top), bottom: this.#product(a.bottom, b.bottom) };
  }

  #inverse({ top, bottom }: Form): Form {
    if (top.size === 0) throw new TooMuchWork();
    const [first] = top.values();
    if (top.size === 1 && first!.powers.size === 0) {
      return {
        top: this.#product(bottom, constant(this.#math.divide(one, first!.factor))),
        bottom: unit,
      };
    }
    return { top: bottom, bottom: top };
  }

  #sum(a: Polynomial, b: Polynomial, sign: 1 | -1): Polynomial {
    if (a.size === 0 && sign === 1) return b;
    if (b.size === 0) return a;
    const result = new Map(a);
    for (const [key, { factor, powers }] of b) {
      const signed = sign === 1 ? factor : negative(factor);
      const total = this.#math.add(result.get(key)?.factor ?? zero, signed);
      if (total.n === 0n) result.delete(key);
      else result.set(key, { factor: total, powers });
    }
    this.#math.spend(a.size * 1_000);
    if (result.size > maxTerms) throw new TooMuchWork();
    return result;
  }

  #product(a: Polynomial, b: Polynomial): Polynomial {
    if (a === unit) return b;
    if (b === unit) return a;
    const result = new Map<string, Term>();
    for (const left of a.values()) {
      for (const right of b.values()) {
        const powers = new Map(left.powers);
        let factor = this.#math.multiply(left.factor, right.factor);
        for (const [name, exponent] of right.powers) {
          const total = (powers.get(name) ?? 0) + exponent;
          if (total > 1_000_000) throw new TooMuchWork();
          factor = this.#setPower(powers, name, total, factor);
        }
        const key = keyOf(powers);
        this.#math.spend(powers.size * 2_000);
        const sum = this.#math.add(result.get(key)?.factor ?? zero, factor);
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
    const { degree = Infinity, value = 1n } = this.#symbols.get(name)!;
    const rest = degree === Infinity ? exponent : exponent % degree;
    if (rest === 0) powers.delete(name);
    else powers.set(name, rest);
    if (rest === exponent) return factor;
    const outside = this.#math.power(whole(value), Math.floor(exponent / degree));
    return this.#math.multiply(factor, outside);
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

function hasVariable(tree: Expression): boolean {
  if (tree.kind === "number") return false;
  if (tree.kind === "call") return tree.args.some(hasVariable);
  return !["pi", "e", "i"].includes(tree.name);
}

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
