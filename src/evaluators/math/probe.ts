/**
 * Whether two formulas are equal, decided by their values at fixed points: in real numbers of double
 * precision, in time linear in their length. Two different formulas are only held equal if they agree at
 * every point within a relative 1e-10.
 */
import type { Expression } from "./expression.ts";

const maxIterations = 1_000;
const tolerance = 1e-10;

/** Irrational-looking, of both signs, and small enough for powers of them to stay finite. */
const points = [0.7391, -0.4179, 1.3247, -1.6181, 2.2361, 0.1132, -2.6651, 3.3593];

/**
 * Finite and from name and point alone, so that both formulas see the same values. The ratio of two
 * names is another at each point: else y = 5x would be a multiple of y = -5x.
 */
function valueAt(name: string, point: number): number {
  let hash = Math.imul(2166136261 ^ (point + 1), 16777619) >>> 0;
  for (const char of name) hash = Math.imul(hash ^ char.codePointAt(0)!, 16777619) >>> 0;
  const base = points[point]!;
  return base * (1 + (hash % 1009) / 2503);
}

/** The value of a formula at one of the points; NaN where it has none in the real numbers. */
function evaluate(expression: Expression, point: number): number {
  if (expression.kind === "number") return expression.value;
  if (expression.kind === "variable") return valueAt(expression.name, point);
  const [a = Number.NaN, b = Number.NaN] = expression.args.map((one) => evaluate(one, point));
  return operations[expression.name]?.(a, b) ?? Number.NaN;
}

function factorial(n: number): number {
  if (!Number.isInteger(n) || n < 0) return Number.NaN;
  if (n > 170) return Infinity;
  let product = 1;
  for (let i = 2; i <= n; i++) product *= i;
  return product;
}

function binomial(n: number, k: number): number {
  if (!Number.isInteger(n) || !Number.isInteger(k) || k < 0 || k > n) return Number.NaN;
  const least = Math.min(k, n - k);
  if (least > maxIterations) return Infinity;
  let result = 1;
  for (let i = 1; i <= least; i++) result = (result * (n - least + i)) / i;
  return result;
}

/** Odd roots of negative numbers are real, as in school. */
function root(radicand: number, degree: number): number {
  if (degree === 2) return Math.sqrt(radicand);
  if (degree === 3) return Math.cbrt(radicand);
  return radicand < 0 && Math.abs(degree % 2) === 1
    ? -((-radicand) ** (1 / degree))
    : radicand ** (1 / degree);
}

const operations: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => (b === 0 ? Number.NaN : a / b),
  "^": (a, b) => a ** b,
  "!": factorial,
  binom: binomial,
  root,
  abs: Math.abs,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  sec: (a) => 1 / Math.cos(a),
  csc: (a) => 1 / Math.sin(a),
  cot: (a) => 1 / Math.tan(a),
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  ln: Math.log,
  log: Math.log,
  exp: Math.exp,
};

const isSafe = (value: number): boolean => Number.isSafeInteger(value);

function isClose(a: number, b: number): boolean {
  // Close integers are not equal: 12345678901 is not 12345678902.
  if (isSafe(a) && isSafe(b)) return a === b;
  const size = Math.max(Math.abs(a), Math.abs(b));
  return Math.abs(a - b) <= tolerance * Math.max(size, 1e-6);
}

/** Whether two formulas agree at every point where they have values, and there is such a point. */
export function agree(left: Expression, right: Expression): boolean {
  let compared = 0;
  for (let point = 0; point < points.length; point++) {
    const a = evaluate(left, point);
    const b = evaluate(right, point);
    if (Number.isNaN(a) && Number.isNaN(b)) continue;
    if (!Number.isFinite(a) || !Number.isFinite(b) || !isClose(a, b)) return false;
    compared++;
  }
  return compared > 0;
}

/** Whether one formula is a constant multiple of the other: two equations with the same solutions. */
export function areProportional(left: Expression, right: Expression): boolean {
  let ratio: number | null = null;
  for (let point = 0; point < points.length; point++) {
    const a = evaluate(left, point);
    const b = evaluate(right, point);
    if (Number.isNaN(a) && Number.isNaN(b)) continue;
    if (!Number.isFinite(a) || !Number.isFinite(b) || a === 0 || b === 0) return false;
    if (ratio !== null && !isClose(a / b, ratio)) return false;
    ratio = a / b;
  }
  return ratio !== null;
}
