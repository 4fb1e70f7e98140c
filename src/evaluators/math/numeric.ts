/**
 * Values of formulas at fixed points, in complex numbers of double precision: how formulas are compared
 * that have parts for which there is no exact form. Linear in their length.
 */
import type { Expression } from "./expression.ts";
import { toDouble } from "./rational.ts";

/** Real and imaginary part; NaN where there is no value. */
export type Complex = readonly [number, number];

const none: Complex = [Number.NaN, Number.NaN];
/** Irrational-looking, of both signs, and small enough for powers of them to stay finite. */
const realPoints = [0.7391, -0.4179, 1.3247, -1.6181, 2.2361, 0.1132, -2.6651, 3.3593];
/** Factorials and powers of -1 have real values at whole numbers only. */
const wholePoints = [3, 4, 7, 8, 5, 10, 2, 12];
export const pointCount: number = realPoints.length + wholePoints.length;

/**
 * Finite and from name and point alone, so that both formulas see the same values. The ratio of two
 * names is another at each point: else y = 5x would be a multiple of y = -5x.
 */
function valueAt(name: string, point: number): number {
  let hash = Math.imul(2166136261 ^ (point + 1), 16777619) >>> 0;
  for (const char of name) hash = Math.imul(hash ^ char.codePointAt(0)!, 16777619) >>> 0;
  const base = realPoints[point];
  return base === undefined
    ? wholePoints[point - realPoints.length]! + (hash % 7)
    : base * (1 + (hash % 1009) / 2503);
}

export const add = (a: Complex, b: Complex): Complex => [a[0] + b[0], a[1] + b[1]];
export const times = (a: Complex, b: Complex): Complex =>
  a[1] === 0 && b[1] === 0
    ? [a[0] * b[0], 0]
    : [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]];
export const sizeOf = (a: Complex): number => Math.hypot(a[0], a[1]);

function over(a: Complex, b: Complex): Complex {
  if (b[1] === 0) return b[0] === 0 ? none : [a[0] / b[0], a[1] / b[0]];
  const size = b[0] * b[0] + b[1] * b[1];
  return times(a, [b[0] / size, -b[1] / size]);
}

const exp = (a: Complex): Complex => {
  const size = Math.exp(a[0]);
  return a[1] === 0 ? [size, 0] : [size * Math.cos(a[1]), size * Math.sin(a[1])];
};
const log = (a: Complex): Complex =>
  a[0] === 0 && a[1] === 0 ? none : [Math.log(sizeOf(a)), Math.atan2(a[1], a[0])];

export function power(a: Complex, b: Complex): Complex {
  if (a[0] === 0 && a[1] === 0) return b[1] === 0 && b[0] > 0 ? [0, 0] : none;
  if (a[1] === 0 && b[1] === 0) {
    if (a[0] > 0 || Number.isInteger(b[0])) return [a[0] ** b[0], 0];
    // Odd roots of negative numbers are real, as in school.
    for (const degree of [3, 5, 7, 9]) {
      const top = Math.round(b[0] * degree);
      if (Math.abs(b[0] * degree - top) < 1e-12) {
        return [(top % 2 === 0 ? 1 : -1) * (-a[0]) ** b[0], 0];
      }
    }
  }
  return exp(times(b, log(a)));
}

/** Of whole numbers; none of others. */
function factorial(n = Number.NaN, step = 1): number {
  if (!Number.isInteger(n) || n < 0) return Number.NaN;
  let product = 1;
  for (let i = Math.min(n, 400); i > 1; i -= step) product *= i;
  return product;
}

const real =
  (f: (...args: readonly number[]) => number) =>
  (...args: readonly Complex[]): Complex =>
    args.some((arg) => arg[1] !== 0) ? none : [f(...args.map((arg) => arg[0])), 0];
const half = (a: Complex): Complex => [a[0] / 2, a[1] / 2];
const minus = (a: Complex): Complex => [-a[0], -a[1]];
const unary: Readonly<Record<string, (a: Complex) => Complex>> = {
  abs: (a) => [sizeOf(a), 0],
  sin: (a) =>
    a[1] === 0
      ? [Math.sin(a[0]), 0]
      : [Math.sin(a[0]) * Math.cosh(a[1]), Math.cos(a[0]) * Math.sinh(a[1])],
  cos: (a) =>
    a[1] === 0
      ? [Math.cos(a[0]), 0]
      : [Math.cos(a[0]) * Math.cosh(a[1]), -Math.sin(a[0]) * Math.sinh(a[1])],
  tan: (a) => over(unary.sin!(a), unary.cos!(a)),
  sec: (a) => over([1, 0], unary.cos!(a)),
  csc: (a) => over([1, 0], unary.sin!(a)),
  cot: (a) => over(unary.cos!(a), unary.sin!(a)),
  sinh: (a) => half(add(exp(a), minus(exp(minus(a))))),
  cosh: (a) => half(add(exp(a), exp(minus(a)))),
  tanh: (a) => over(unary.sinh!(a), unary.cosh!(a)),
  asin: real(Math.asin),
  acos: real(Math.acos),
  atan: real(Math.atan),
  ln: log,
  log,
  lg: (a) => over(log(a), [Math.LN10, 0]),
  exp,
  floor: real(Math.floor),
  ceil: real(Math.ceil),
  "!": real((n) => factorial(n)),
  "!!": real((n) => factorial(n, 2)),
  deg: (a) => times(a, [Math.PI / 180, 0]),
};
const binary: Readonly<Record<string, (a: Complex, b: Complex) => Complex>> = {
  "+": add,
  "-": (a, b) => add(a, minus(b)),
  "*": times,
  "/": over,
  "^": power,
  root: (a, b) => power(a, over([1, 0], b)),
  binom: real((n = 0, k = 0) => {
    if (!Number.isInteger(k) || k < 0 || k > 1_000) return Number.NaN;
    let result = 1;
    for (let i = 1; i <= k; i++) result = (result * (n - k + i)) / i;
    return result;
  }),
};
const constants: Readonly<Record<string, Complex>> = {
  pi: [Math.PI, 0],
  e: [Math.E, 0],
  i: [0, 1],
};

/** The value at one of the points. Without `isComplex`, what leaves the real numbers has none. */
export function evaluate(tree: Expression, point: number, isComplex: boolean): Complex {
  if (tree.kind === "number") return [toDouble(tree.value), 0];
  if (tree.kind !== "call") return constants[tree.name] ?? [valueAt(tree.name, point), 0];
  const args = tree.args.map((arg) => evaluate(arg, point, isComplex));
  const [a = none, b = none] = args;
  const value =
    args.length === 2 ? (binary[tree.name]?.(a, b) ?? none) : (unary[tree.name]?.(a) ?? none);
  return value[1] !== 0 && !isComplex ? none : value;
}
