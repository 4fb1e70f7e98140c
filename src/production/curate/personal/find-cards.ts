/** Numbers of cards: the prefix and length of an issuer, Luhn's check digit, and the groups that cards are written in. */
import { type Found, isDigitAt, isNameAt } from "./found.ts";

/** Prefixes and lengths that networks issue; lengths that only few cards have count where they are in groups. */
const issuers: readonly (readonly [RegExp, readonly number[], readonly number[]])[] = [
  [/^4/u, [13, 16], [19]], // Visa
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/u, [16], []], // Mastercard
  [/^3[47]/u, [15], []], // American Express
  [/^3(?:0[0-5]|[689])/u, [14], [16]], // Diners Club
  [/^6(?:011|4[4-9]|5)/u, [16], [19]], // Discover
  [/^35(?:2[89]|[3-8])/u, [16], [19]], // JCB
  [/^62/u, [16, 17, 18, 19], []], // UnionPay
  [/^(?:50(?:18|20|38)|5893|6304|6759|676[1-3])/u, [13, 14, 15, 16, 17, 18, 19], []], // Maestro
  [/^220[0-4]/u, [16, 17, 18, 19], []], // Mir
  // RuPay, Elo, Verve, Dankort, Hipercard, Hiper, Uzcard, Troy, Humo
  [/^(?:60[678]|81[789]|820|50[6-9]|5019|63[67]|8600|9792|9860)/u, [16], []],
];

function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** The number of a product (EAN-13), which some begin as old cards of 13 digits do. */
function isProduct(digits: string): boolean {
  const sum = [...digits].reduce((all, digit, i) => all + Number(digit) * (i % 2 === 0 ? 1 : 3), 0);
  return digits.length === 13 && sum % 10 === 0;
}

const isCard = (digits: string, isGrouped: boolean): boolean =>
  issuers.some(
    ([prefix, lengths, rare]) =>
      (lengths.includes(digits.length) || (isGrouped && rare.includes(digits.length))) &&
      prefix.test(digits),
  ) &&
  hasCheckDigit(digits) &&
  !isProduct(digits);

const longLayout: readonly number[] = [4, 4, 4, 4, 3];

/** Digits of the groups, the most usual first. */
const layouts: readonly (readonly number[])[] = [
  [4, 4, 4, 4],
  [4, 6, 5],
  [4, 6, 4],
  longLayout,
  [4, 4, 4, 4, 2],
  [4, 4, 4, 4, 1],
  [4, 4, 4, 1],
  [4, 4, 5],
  [8, 8],
  [6, 10],
  [6, 13],
];

interface Group {
  readonly begin: number;
  readonly digits: string;
  /** What is between it and the group before it. */
  readonly separator: string;
}

/** Groups of digits of one line, each with at most a sign and some spaces before it. */
const runs = /\d+(?:(?: {1,3}| ?[-./_·•+] ?)\d+)*/gu;

function groupsOf(run: string, at: number): readonly Group[] {
  const groups: Group[] = [];
  let end = 0;
  for (const { 0: digits, index } of run.matchAll(/\d+/gu)) {
    groups.push({ begin: at + index, digits, separator: run.slice(end, index).trim() });
    end = index + digits.length;
  }
  return groups;
}

const endOf = ({ begin, digits }: Group): number => begin + digits.length;

/** A fraction has no cards: 0.4111111111111111, and with a comma. */
function isPartOfFraction(text: string, begin: number, end: number): boolean {
  const before = text[begin - 1];
  if (text[end] === "." && isDigitAt(text, end + 1)) return true;
  if (before === ".") return !/[A-Za-z]/u.test(text[begin - 2] ?? "");
  return before === "," && text[begin - 2] === "0" && !isDigitAt(text, begin - 3);
}

/** Groups from `from` that are a card; 0 where none is. */
function cardLength(text: string, groups: readonly Group[], from: number): number {
  const first = groups[from]!;
  const whole = (count: number): string =>
    groups
      .slice(from, from + count)
      .map(({ digits }) => digits)
      .join("");
  const isAlone = (count: number): boolean =>
    !isNameAt(text, first.begin - 1) && !isNameAt(text, endOf(groups[from + count - 1]!));
  if (first.digits.length >= 13) {
    const isOne =
      first.digits.length <= 19 &&
      isAlone(1) &&
      !isPartOfFraction(text, first.begin, endOf(first)) &&
      isCard(first.digits, false);
    return isOne ? 1 : 0;
  }
  // UnionPay's are as long as 19 digits more often than others.
  const usual = first.digits.startsWith("62") ? [longLayout, ...layouts] : layouts;
  for (const layout of usual) {
    if (!layout.every((size, i) => groups[from + i]?.digits.length === size)) continue;
    if (isAlone(layout.length) && isCard(whole(layout.length), true)) return layout.length;
  }
  return 0;
}

/** Where a list of numbers goes on with the same separators on both sides, some are a card by chance. */
function isInList(groups: readonly Group[], from: number, count: number): boolean {
  const { separator } = groups[from + 1]!;
  const isBefore = from > 0 && groups[from]!.separator === separator;
  return (
    isBefore &&
    groups[from - 1]!.digits.length === 4 &&
    groups[from + count]?.separator === separator
  );
}

/** Where other signs are around a card than in it, it is set apart from other numbers. */
function isSetApart(groups: readonly Group[], from: number, count: number): boolean {
  const inside = new Set(groups.slice(from + 1, from + count).map(({ separator }) => separator));
  const around = [from > 0 ? groups[from] : undefined, groups[from + count]];
  return around.every((group) => group === undefined || !inside.has(group.separator));
}

/** Groups beside a card that may be its date and code, or the number of a list's entry. */
const maxBeside = 3;

export function findCards(text: string): readonly Found[] {
  const found: Found[] = [];
  for (const { 0: run, index } of text.matchAll(runs)) {
    if (run.length < 13) continue;
    const groups = groupsOf(run, index);
    const cards: { from: number; count: number }[] = [];
    for (let from = 0; from < groups.length;) {
      const count = cardLength(text, groups, from);
      if (count > 0) cards.push({ from, count });
      from += Math.max(count, 1);
    }
    const beside = groups.length - cards.reduce((sum, { count }) => sum + count, 0);
    const areBeside = beside <= maxBeside * cards.length;
    for (const { from, count } of cards) {
      const isOne =
        count === 1 ||
        isSetApart(groups, from, count) ||
        (areBeside && (cards.length > 1 || !isInList(groups, from, count)));
      if (!isOne) continue;
      const card = groups.slice(from, from + count);
      const key = card.map(({ digits }) => digits).join("");
      found.push({ begin: card[0]!.begin, end: endOf(card.at(-1)!), key });
    }
  }
  return found;
}
