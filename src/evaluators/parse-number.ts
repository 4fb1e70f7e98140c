/** Numbers as people write them: signs, thousands separators, currencies, fractions, per cent, units. */
import { linearPattern } from "./linear-pattern.ts";

/** A number as it was written. */
export interface WrittenNumber {
  /** With the exponent and the word for a power of ten, but not the percent sign, applied. */
  readonly value: number;
  readonly isPercent: boolean;
  /** The word after it; "" without one. */
  readonly unit: string;
}

const written = linearPattern(
  String.raw`([-+−–])?\s?(?:[$€£¥]\s?)?(\d[\d,.'_\x{a0}\x{202f}]*|[.,]\d+)` +
    String.raw`(?:[eE]([-+]?\d{1,4})\b|\s?(?:×|\*|x|\\times)\s?10\^\{?([-−]?\d{1,4})\}?)?` +
    String.raw`(?:\s?/\s?(\d+(?:\.\d+)?))?(?:\s?\\?(%)|[\s-]?(\p{L}[\p{L}°²³/]*|°\p{L}?))?`,
);

const powers: Readonly<Record<string, number>> = {
  hundred: 1e2,
  thousand: 1e3,
  million: 1e6,
  billion: 1e9,
  trillion: 1e12,
};

/** All numbers of a text, in order; those of broken grouping (`1,23`) and infinite ones are dropped. */
export function findNumbers(text: string, decimal: "." | "," = "."): readonly WrittenNumber[] {
  return written.all(text).flatMap(({ groups, index }) => {
    const [, sign, digits, exponent, power, divisor, percent, word] = groups;
    const plain = plainDigits(digits ?? "", decimal);
    if (plain === null) return [];
    // A hyphen after a letter or a digit is not a sign: "3-5", "GPT-4".
    const before = index === 0 ? "" : text[index - 1]!;
    const isNegative = sign !== null && sign !== "+" && !/[\p{L}\p{N}]/u.test(before);
    const tens = Number((exponent ?? power ?? "0").replace("−", "-"));
    const unit = word ?? "";
    const scale = Object.hasOwn(powers, unit.toLowerCase()) ? powers[unit.toLowerCase()]! : 1;
    const size = (Number(`${plain}e${tens}`) / (divisor === null ? 1 : Number(divisor))) * scale;
    if (!Number.isFinite(size)) return [];
    const isPercent = percent !== null || /^per ?cent$/iu.test(unit);
    return [{ value: isNegative ? -size : size, isPercent, unit: scale === 1 ? unit : "" }];
  });
}

/** Without separators and with a decimal point; null where the grouping is broken. */
function plainDigits(text: string, decimal: "." | ","): string | null {
  const isDigit = (char: string): boolean => char >= "0" && char <= "9";
  let end = text.length;
  while (end > 0 && !isDigit(text[end - 1]!)) end--;
  const parts = text.slice(0, end).split(decimal);
  if (parts.length > 2) return null;
  const [whole = "", fraction = ""] = parts;
  if (![...fraction].every(isDigit)) return null;
  const groups = whole.split(/[,.'_\u{a0}\u{202f}]/u);
  const isGrouped =
    groups.length === 1 ||
    (groups[0]!.length <= 3 &&
      groups[0] !== "" &&
      groups.slice(1).every((one) => one.length === 3));
  return isGrouped ? `${groups.join("")}.${fraction}0` : null;
}
