/**
 * Exact forms of formulas: fractions of polynomials in variables, constants, roots of primes, and parts
 * that have no exact form (functions), which are compared by their values.
 */
import { type Expression, call, literal } from "./expression.ts";
import { type Form, Polynomials, imaginary, number, rationalOf } from "./polynomial.ts";
import {
  type Rational,
  TooMuchWork,
  asSmall,
  attempt,
  gcd,
  isInteger,
  magnitude,
  negative,
  whole,
  zero,
} from "./rational.ts";

/** The forms of the formulas of one comparison. */
export class ExactForms {
  readonly polynomials: Polynomials = new Polynomials();
  readonly #forms = new Map<Expression, Form | null>();

  /** Null where it would be too large, or has no value. */
  of(tree: Expression): Form | null {
    const known = this.#forms.get(tree);
    if (known !== undefined) return known;
    const form = attempt(() => this.#build(tree));
    this.#forms.set(tree, form);
    return form;
  }

  #build(tree: Expression): Form {
    if (tree.kind === "number") return number(tree.value);
    if (tree.kind !== "call") return this.#name(tree);
    const args = tree.args.map((arg) => {
      const form = this.of(arg);
      if (form === null) throw new TooMuchWork();
      return form;
    });
    const [a, b] = args;
    if (tree.name.startsWith("unit ")) return a!;
    if (tree.name === "+" || tree.name === "-")
      return this.polynomials.added(a!, b!, tree.name === "+" ? 1 : -1);
    if (tree.name === "*") return this.polynomials.times(a!, b!);
    if (tree.name === "/") return this.polynomials.times(a!, this.polynomials.inverse(b!));
    if (tree.name === "^") return this.#power(a!, b!, tree);
    if (tree.name === "root") return this.#power(a!, this.polynomials.inverse(b!), tree);
    if (tree.name === "deg") {
      return this.polynomials.times(
        a!,
        this.#build(call("/", { kind: "name", name: "pi" }, literal(whole(180)))),
      );
    }
    return this.#function(tree.name, args) ?? this.polynomials.opaque(tree.name, args, tree);
  }

  #name(tree: Expression & { name: string }): Form {
    const { name } = tree;
    if (name === "i") return this.polynomials.symbol("i", imaginary);
    return this.polynomials.symbol(name, {
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
      return exact(this.polynomials.math.factorial(n, name === "!" ? 1 : 2));
    }
    if (name === "binom" && n !== null && k !== null && n >= 0)
      return exact(this.polynomials.math.binomial(n, k));
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
      return this.polynomials.opaque("^", [base, exponent], tree);
    }
    const raised =
      size < 0
        ? this.polynomials.raised(this.polynomials.inverse(base), -size)
        : this.polynomials.raised(base, size);
    if (degree === 1) return raised;
    const radicand = rationalOf(raised);
    const root = radicand === null ? null : this.polynomials.root(radicand, degree);
    const reduced = call(
      "root",
      tree.kind === "call" ? tree.args[0]! : tree,
      literal(whole(degree)),
    );
    const asTree = size === 1 ? reduced : tree;
    return root ?? this.polynomials.opaque(`root ${degree}`, [raised], asTree);
  }
}
