/** Numerals of tokens to fractions. */
import { Arithmetic, type Rational, TooMuchWork, whole, zero } from "./rational.ts";
import { maxDigits } from "./tokens.ts";

/** Digits, with `e` for a power of ten, or with `r` for digits that repeat forever. */
export function numeral(text: string): Rational {
  const [, all = "", again = "", tens = "0"] = /^([\d.]*)(?:r(\d+))?(?:e([-+]?\d+))?$/u.exec(text)!;
  if (text.length > maxDigits) throw new TooMuchWork();
  const [before = "", after = ""] = all.split(".");
  const math = new Arithmetic();
  const shift = math.power(whole(10), after.length);
  const ends = math.fraction(BigInt(before + after || "0"), shift.n);
  const rest =
    again === ""
      ? zero
      : math.fraction(BigInt(again), shift.n * (10n ** BigInt(again.length) - 1n));
  return math.multiply(math.add(ends, rest), math.power(whole(10), Number(tens)));
}
