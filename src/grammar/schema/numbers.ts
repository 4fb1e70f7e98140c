/**
 * JSON numbers within bounds as languages, without exponents: digits are compared with those of the bounds
 * as they are read. At most 15 digits, so that what is read back is exactly what was written.
 */
import { numbered, type Automaton, type Language, type Transition } from "../strings/language.ts";
import type { WorkBudget } from "../work-budget.ts";

export interface NumberBounds {
  readonly isInteger: boolean;
  readonly min: number;
  readonly max: number;
  readonly excludesMin: boolean;
  readonly excludesMax: boolean;
  /** Of integers; 1 for any. */
  readonly multipleOf: number;
}

const maxDigits = 15;

interface Decimal {
  readonly whole: string;
  readonly fraction: string;
}

/** Of a number from 0 on. */
function decimalOf(value: number): Decimal {
  const [mantissa = "0", exponent = "0"] = String(value).split("e");
  const [whole = "0", fraction = ""] = mantissa.split(".");
  const shift = Number(exponent);
  if (shift === 0) return { whole, fraction };
  if (shift > 0) {
    const padded = fraction.padEnd(shift, "0");
    return { whole: whole + padded.slice(0, shift), fraction: padded.slice(shift) };
  }
  const padded = whole.padStart(1 - shift, "0");
  return { whole: padded.slice(0, shift), fraction: padded.slice(shift) + fraction };
}

/** Bounds of the magnitude, for one sign. */
interface Magnitude {
  readonly low: Decimal;
  readonly high: Decimal | null;
  readonly excludesLow: boolean;
  readonly excludesHigh: boolean;
}

/** Magnitudes of the numbers from 0 on, or below it; null where there are none. */
function magnitudes(bounds: NumberBounds, isNegative: boolean): Magnitude | null {
  const [low, high] = isNegative ? [-bounds.max, -bounds.min] : [bounds.min, bounds.max];
  const [excludesLow, excludesHigh] = isNegative
    ? [bounds.excludesMax, bounds.excludesMin]
    : [bounds.excludesMin, bounds.excludesMax];
  if (high < 0 || (high === 0 && (isNegative || excludesHigh))) return null;
  // There is no -0.
  const isFromZero = low < 0 || (low === 0 && isNegative);
  return {
    low: decimalOf(Math.max(0, low)),
    high: high === Infinity ? null : decimalOf(high),
    excludesLow: isFromZero ? isNegative : excludesLow,
    excludesHigh,
  };
}

/** -1, 0, 1 of what was read so far against the same number of the bound's digits. */
type Order = number;

interface Reading {
  readonly sign: "" | "-";
  /** Digits before the point; 0 before the first. */
  readonly whole: number;
  /** Digits after it; -1 without a point. */
  readonly fraction: number;
  readonly low: Order;
  readonly high: Order;
  /** The whole number is 0, after which only a point can come. */
  readonly isZero: boolean;
  readonly rest: number;
}

const compare = (digit: string, bound: string | undefined): Order =>
  Math.sign(Number(digit) - Number(bound ?? "0"));

/** Against a bound with `bound.whole.length` digits. */
function settle(order: Order, whole: number, bound: Decimal): Order {
  const length = bound.whole.length;
  return whole === length ? order : Math.sign(whole - length);
}

const hasMore = ({ fraction }: Decimal, read: number): boolean =>
  /[1-9]/.test(fraction.slice(Math.max(0, read)));

/** What was read of a number; null before its first letter. */
type Place = Reading | null;

export function numberLanguage(bounds: NumberBounds, budget: WorkBudget): Language {
  const signs = { "": magnitudes(bounds, false), "-": magnitudes(bounds, true) };
  const { isInteger, multipleOf } = bounds;

  const wholeOrders = (reading: Reading): { low: Order; high: Order } => {
    const { low, high } = signs[reading.sign]!;
    if (reading.fraction >= 0) return reading;
    return {
      low: settle(reading.low, reading.whole, low),
      high: high === null ? -1 : settle(reading.high, reading.whole, high),
    };
  };

  const digitsAfter = (reading: Reading): readonly Transition<Place>[] => {
    const { sign, whole, fraction } = reading;
    const { low, high } = signs[sign]!;
    const all: Transition<Place>[] = [];
    const length = whole + Math.max(0, fraction);
    if (length >= maxDigits) return all;
    if (fraction < 0 && reading.isZero) return all;
    for (const digit of "0123456789") {
      const point = digit.codePointAt(0)!;
      const place = fraction < 0 ? whole : fraction;
      const of = (bound: Decimal): string | undefined =>
        fraction < 0 ? bound.whole[place] : bound.fraction[place];
      const next: Reading = {
        sign,
        whole: fraction < 0 ? whole + 1 : whole,
        fraction: fraction < 0 ? fraction : fraction + 1,
        low: reading.low === 0 ? compare(digit, of(low)) : reading.low,
        high: high === null ? -1 : reading.high === 0 ? compare(digit, of(high)) : reading.high,
        isZero: fraction < 0 ? whole === 0 && digit === "0" : reading.isZero,
        rest: multipleOf === 1 ? 0 : (reading.rest * 10 + Number(digit)) % multipleOf,
      };
      all.push({ low: point, high: point, to: next });
    }
    return all;
  };

  const begun = (sign: "" | "-"): Reading => ({
    sign,
    whole: 0,
    fraction: -1,
    low: 0,
    high: signs[sign]?.high === null ? -1 : 0,
    isZero: false,
    rest: 0,
  });

  const automaton: Automaton<Place> = {
    start: null,
    key: (reading) => (reading === null ? "" : Object.values(reading).join()),
    accepts(reading) {
      if (reading === null || reading.whole === 0 || reading.fraction === 0 || reading.rest !== 0)
        return false;
      const { low, high, excludesLow, excludesHigh } = signs[reading.sign]!;
      const orders = wholeOrders(reading);
      const isAbove =
        orders.low > 0 || (orders.low === 0 && !hasMore(low, reading.fraction) && !excludesLow);
      if (!isAbove) return false;
      if (high === null || orders.high < 0) return true;
      return orders.high === 0 && (hasMore(high, reading.fraction) || !excludesHigh);
    },
    transitions(reading) {
      if (reading === null) {
        const positive = signs[""] === null ? [] : digitsAfter(begun(""));
        if (signs["-"] === null) return positive;
        const minus = "-".codePointAt(0)!;
        return [{ low: minus, high: minus, to: begun("-") }, ...positive];
      }
      const digits = digitsAfter(reading);
      if (isInteger || reading.fraction >= 0 || reading.whole === 0) return digits;
      const dot = ".".codePointAt(0)!;
      const point = {
        low: dot,
        high: dot,
        to: { ...reading, fraction: 0, ...wholeOrders(reading) },
      };
      return [point, ...digits];
    },
  };
  return numbered(automaton, budget);
}
