/** Exact fractions of integers, with a bound on the work of one comparison. */

/** A fraction in lowest terms; the denominator is positive. */
export interface Rational {
  readonly n: bigint;
  readonly d: bigint;
}

/** What is computed has become too large; nothing is known about its value. */
export class TooMuchWork extends Error {}

/** What a computation gives; null where it would be too much work. */
export function attempt<T>(compute: () => T): T | null {
  try {
    return compute();
  } catch (error) {
    if (error instanceof TooMuchWork) return null;
    throw error;
  }
}

export const whole = (n: bigint | number): Rational => ({ n: BigInt(n), d: 1n });
export const zero: Rational = whole(0);
export const one: Rational = whole(1);
export const isInteger = ({ d }: Rational): boolean => d === 1n;
export const negative = ({ n, d }: Rational): Rational => ({ n: -n, d });
export const isSame = (a: Rational, b: Rational): boolean => a.n === b.n && a.d === b.d;

export const magnitude = (n: bigint): bigint => (n < 0n ? -n : n);
const bits = (n: bigint): number => (magnitude(n) < 1n << 64n ? 64 : n.toString(16).length * 4);

/** A whole number as a JavaScript number; null where it is none below 2^31. */
export const asSmall = ({ n, d }: Rational): number | null =>
  d === 1n && magnitude(n) < 1n << 31n ? Number(n) : null;

/** The closest double, also where numerator and denominator are beyond doubles. */
export function toDouble({ n, d }: Rational): number {
  const shift = Math.max(0, Math.min(bits(n), bits(d)) - 1_000);
  const [top, bottom] = [n >> BigInt(shift), d >> BigInt(shift)];
  return Number(top) / Number(bottom);
}

export function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [magnitude(a), magnitude(b)];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

const maxBits = 20_000;

/** Arithmetic that stops with {@link TooMuchWork} when its budget is used up. */
export class Arithmetic {
  /** Of products of bits: about half a second. */
  #left = 2e9;

  spend(work: number): void {
    this.#left -= work;
    if (this.#left < 0) throw new TooMuchWork();
  }

  fraction(n: bigint, d: bigint): Rational {
    if (d === 0n) throw new TooMuchWork();
    const [above, below] = [bits(n), bits(d)];
    if (above > maxBits || below > maxBits) throw new TooMuchWork();
    this.spend(above * below + 1_000);
    const divisor = d === 1n ? 1n : gcd(n, d);
    const sign = d < 0n ? -1n : 1n;
    return { n: (sign * n) / divisor, d: (sign * d) / divisor };
  }

  add(a: Rational, b: Rational): Rational {
    return this.fraction(a.n * b.d + b.n * a.d, a.d * b.d);
  }

  multiply(a: Rational, b: Rational): Rational {
    return this.fraction(a.n * b.n, a.d * b.d);
  }

  divide(a: Rational, b: Rational): Rational {
    return this.fraction(a.n * b.d, a.d * b.n);
  }

  power(base: Rational, exponent: number): Rational {
    const size = Math.abs(exponent);
    // 1 and -1 stay small.
    const isUnit = base.d === 1n && magnitude(base.n) <= 1n;
    const most = Math.max(base.n.toString(2).length, base.d.toString(2).length);
    if (!isUnit && most * size > 2 * maxBits) throw new TooMuchWork();
    const times = BigInt(isUnit ? (size % 2 === 0 ? 2 : 1) : size);
    const [n, d] = size === 0 ? [1n, 1n] : [base.n ** times, base.d ** times];
    return exponent < 0 ? this.fraction(d, n) : this.fraction(n, d);
  }

  factorial(n: number, step: 1 | 2): bigint {
    if (n > 2_000) throw new TooMuchWork();
    let product = 1n;
    for (let i = n; i > 1; i -= step) product *= BigInt(i);
    this.spend(n * 10_000);
    return product;
  }

  binomial(n: number, k: number): bigint {
    if (k < 0 || k > n) return 0n;
    const least = Math.min(k, n - k);
    if (least > 2_000) throw new TooMuchWork();
    let result = 1n;
    for (let i = 1; i <= least; i++) result = (result * BigInt(n - least + i)) / BigInt(i);
    this.spend(least * 10_000);
    return result;
  }
}
