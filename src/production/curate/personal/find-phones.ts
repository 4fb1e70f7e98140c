/**
 * Numbers of phones that say so by their form: with a country's code (+49, 0049), with an area's code in
 * parentheses, or in the groups of North America. Other national numbers look like any number.
 */
import { type Found, isDigitAt } from "./found.ts";

/** Digits after the country's code, at least and at most, as ITU-T E.164 and the plans of countries have them. */
const plans: ReadonlyMap<string, readonly [number, number]> = new Map(
  (
    "1:10-10 7:10-10 20:8-10 27:9-9 30:10-10 31:9-11 32:8-9 33:9-9 34:9-9 36:8-9 39:6-11 40:9-9 41:9-9 43:6-13 44:9-10 " +
    "45:8-8 46:7-10 47:8-8 48:9-9 49:6-13 51:8-9 52:10-11 53:6-10 54:10-11 55:10-11 56:9-9 57:8-10 58:10-10 60:8-10 " +
    "61:9-9 62:7-12 63:8-10 64:8-10 65:8-8 66:8-9 81:9-10 82:8-10 84:7-10 86:10-11 90:10-10 91:10-10 92:8-10 93:9-9 " +
    "94:9-9 95:7-10 98:10-10"
  )
    .split(" ")
    .map((entry) => {
      const [code, least, most] = entry.split(/[:-]/u) as [string, string, string];
      return [code, [Number(least), Number(most)]];
    }),
);

/** Codes of three digits. */
const longCode = /^(?:2[1-69]|3[578]|42|5[09]|6[789]|8[0578]|9[679])\d/u;

/** @param digits from the country's code on */
function isInternational(digits: string): boolean {
  for (const length of [1, 2]) {
    const plan = plans.get(digits.slice(0, length));
    if (plan === undefined) continue;
    const rest = digits.length - length;
    return rest >= plan[0] && rest <= plan[1] && !(length === 1 && /^1[01]/u.test(digits));
  }
  return longCode.test(digits) && digits.length >= 8 && digits.length <= 15;
}

/** Digits in groups, with a sign or two between them, and the area's code or its zero in parentheses. */
const international =
  /(?<![\w+]|\d[.,-])(?:\(\+(?=\d{1,4}\))|\+|(?<!\d )(?:00[ -]?|011[ -]))(?=\(?[1-9])\(?\d{1,4}\)?(?:[ ./-]{0,2}\(0?\d{0,4}\))?(?:[ ./-]{0,3}\d){5,17}/gu;

const american =
  /(?<!\w|[+$]|\d[.,-])(?:1[.-]\(?[2-9]\d{2}\)?[ .-]{1,2}\d{3}[ .-]\d{4}|(?:1[ -]?)?\([2-9]\d{2}\)[ .-]{0,2}\d{3}[ .-]\d{4}|(?:1 )?[2-9]\d{2}(?:\.\d{3}\.|-\d{3}-| \d{3}-)\d{4}|(?:1 )?8(?:00|33|44|55|66|77|88) [2-9]\d{2} \d{4})(?!\w|-\d|[.]\d)/gu;

const withArea =
  /(?<![\w+]|\d[ .-])(?:8 ?)?\((?!(?:19|20)\d\d\))\d{2,5}\)[ ./-]{0,2}\d{2,8}(?:[ ./-]\d{2,6}){0,4}(?!\w)/gu;

const digitsOf = (text: string): string => text.replaceAll(/\D/gu, "");

/** The longest part of whole groups that is a number: what follows may be of the next sentence. */
export function findInternationalPhones(text: string): readonly Found[] {
  const found: Found[] = [];
  for (const { 0: number, index } of text.matchAll(international)) {
    // A longer number than any is part of something else.
    if (isDigitAt(text, index + number.length)) continue;
    for (let end = number.length; end > 0;) {
      const part = number.slice(0, end);
      // Without the zero that is dialled within the country, and what is dialled instead of a plus.
      const digits = digitsOf(part.replace(/\(0/u, "(")).replace(/^(?:00|011)/u, "");
      const isPadded = /^001\d+$/u.test(part);
      const isShort = /^\+?\d+$/u.test(part) && digits.length < 9;
      if (isInternational(digits) && !isPadded && !isShort) {
        found.push({ begin: index, end: index + end, key: digits });
        break;
      }
      end = /[ ./-]+\(?\d+\)?$/u.exec(part)?.index ?? 0;
    }
  }
  return found;
}

export const findAmericanPhones = (text: string): readonly Found[] =>
  [...text.matchAll(american)].map(({ 0: number, index }) => ({
    begin: index,
    end: index + number.length,
    key: `1${digitsOf(number).slice(-10)}`,
  }));

export const findPhonesWithArea = (text: string): readonly Found[] =>
  [...text.matchAll(withArea)].flatMap(({ 0: number, index }) => {
    const key = digitsOf(number);
    const isOne = key.length >= (number.startsWith("(0") ? 8 : 9) && key.length <= 15;
    return isOne ? [{ begin: index, end: index + number.length, key }] : [];
  });
