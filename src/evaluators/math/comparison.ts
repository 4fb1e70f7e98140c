/** Whether formulas are equal: by their exact forms, and where these have functions, by their values. */
import { type Expression } from "./expression.ts";
import { ExactForms } from "./exact.ts";
import { type Complex, add, evaluate, pointCount, power, sizeOf, times } from "./numeric.ts";
import type { Polynomial, Atom } from "./polynomial.ts";
import { attempt, isSame, magnitude, toDouble, zero } from "./rational.ts";

const tolerance = 1e-10;

/** The comparison of two answers: what it has computed, and how much work it may still do. */
export class Comparison {
  readonly #forms = new ExactForms();
  readonly #polynomials = this.#forms.polynomials;

  /** Whether two formulas have the same value for all values of their variables. */
  areEqual(left: Expression, right: Expression): boolean {
    const [a, b] = [this.#forms.of(left), this.#forms.of(right)];
    const of = this.#polynomials;
    const cross =
      a === null || b === null
        ? null
        : attempt(() => of.sum(of.product(a.top, b.bottom), of.product(b.top, a.bottom), -1));
    if (a === null || b === null || cross === null) return this.#agree(left, right);
    if (cross.size === 0) return true;
    return !this.#isIndependent(cross) && this.#isZeroAtPoints(cross, [a.bottom, b.bottom]);
  }

  /**
   * Whether one is a constant multiple of the other, so that both are 0 for the same values; the sign of
   * the factor, or 0.
   */
  proportion(left: Expression, right: Expression): number {
    return attempt(() => this.#proportion(left, right)) ?? 0;
  }

  #proportion(left: Expression, right: Expression): number {
    const [a, b] = [this.#forms.of(left)?.top, this.#forms.of(right)?.top];
    if (a === undefined || b === undefined || a.size === 0 || b.size === 0) return 0;
    const [key, first] = a.entries().next().value!;
    const second = b.get(key);
    const isSimple = this.#isIndependent(a) && this.#isIndependent(b);
    if (second !== undefined && a.size === b.size) {
      const ratio = this.#polynomials.math.divide(first.factor, second.factor);
      const isMultiple = [...a].every(([at, { factor }]) => {
        const other = b.get(at);
        return (
          other !== undefined &&
          isSame(factor, this.#polynomials.math.multiply(other.factor, ratio))
        );
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
    const form = this.#forms.of(tree);
    if (form === null) return Number.NaN;
    const symbols = [...this.#used(form.top), ...this.#used(form.bottom)];
    if (symbols.some((symbol) => hasVariable(symbol.tree))) return Number.NaN;
    const [value, imaginary] = evaluate(tree, 0, false);
    return imaginary === 0 ? value : Number.NaN;
  }

  #used(polynomial: Polynomial): readonly Atom[] {
    const names = new Set([...polynomial.values()].flatMap(({ powers }) => [...powers.keys()]));
    return [...names].map((name) => this.#polynomials.symbols.get(name)!);
  }

  /** Whether a polynomial that is not 0 has a value other than 0, for certain. */
  #isIndependent(polynomial: Polynomial): boolean {
    const used = this.#used(polynomial);
    const count = (is: (symbol: Atom) => boolean): number => used.filter(is).length;
    const roots = used.filter(({ kind }) => kind === "root");
    return (
      count(({ kind }) => kind === "opaque") === 0 &&
      count(({ kind }) => kind === "constant") <= 1 &&
      // Roots of different primes are independent (Besicovitch, 1940).
      new Set(roots.map(({ value }) => value)).size === roots.length &&
      // Large parts that were not factored may have a common factor, or be powers.
      roots.filter(({ value = 0n }) => value > 1_000_000n).length <= 1 &&
      roots.every(({ degree = 2, value = 0n }) => value < 1_000_000n || degree < 4)
    );
  }

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
      let term: Complex = [toDouble(this.#polynomials.math.divide(factor, largest)), 0];
      for (const [name, exponent] of powers) {
        const base =
          values.get(name) ??
          evaluate(this.#polynomials.symbols.get(name)!.tree, point, this.#isComplex);
        values.set(name, base);
        term = times(term, exponent === 1 ? base : power(base, [exponent, 0]));
      }
      value = add(value, term);
      size += sizeOf(term);
    }
    return { value, size };
  }

  /** Where one of these divisors is 0, there is no value. */
  #isZeroAtPoints(polynomial: Polynomial, divisors: readonly Polynomial[]): boolean {
    let compared = 0;
    for (let point = 0; point < pointCount; point++) {
      const found = attempt(() => this.#valueOf(polynomial, point));
      if (found === null || found.size === Infinity) return false;
      if (Number.isNaN(found.size) || divisors.some((one) => this.#isZero(one, point))) continue;
      if (sizeOf(found.value) > tolerance * found.size) return false;
      compared++;
    }
    return compared > 1;
  }

  #isZero(polynomial: Polynomial, point: number): boolean {
    const found = attempt(() => this.#valueOf(polynomial, point));
    return found === null || sizeOf(found.value) <= tolerance * found.size;
  }

  #ratioAtPoints(left: Polynomial, right: Polynomial): number {
    const ratios: number[] = [];
    for (let point = 0; point < pointCount; point++) {
      const [a, b] = [left, right].map(
        (polynomial) => attempt(() => this.#valueOf(polynomial, point))?.value ?? [0, 0],
      );
      const ratio = a![0] / b![0];
      if (Number.isNaN(ratio) || a![1] !== 0 || b![1] !== 0) continue;
      if (!Number.isFinite(ratio) || ratio === 0) return 0;
      ratios.push(ratio);
    }
    const [first = 0] = ratios;
    const isConstant = ratios.every(
      (ratio) => Math.abs(ratio - first) <= tolerance * Math.abs(first),
    );
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

  /** Only formulas with i leave the real numbers. */
  get #isComplex(): boolean {
    return this.#polynomials.symbols.has("i");
  }
}

function hasVariable(tree: Expression): boolean {
  if (tree.kind === "number") return false;
  if (tree.kind === "call") return tree.args.some(hasVariable);
  return !["pi", "e", "i"].includes(tree.name);
}
