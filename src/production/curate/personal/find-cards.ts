/** Numbers of cards in a text: in one piece, or in the groups that cards are written in. */
import { type Found, isDigitAt, isNameAt } from "./found.ts";
import { isCard } from "./is-card.ts";

const longLayout: readonly number[] = [4, 4, 4, 4, 3];

/** Only where nothing is next to them: ids have such parts. */
const rareLayouts: readonly (readonly number[])[] = [
  [4, 8, 4],
  [4, 4, 8],
  [8, 4, 4],
  [8, 8],
  [4, 12],
  [12, 4],
  [6, 10],
  [6, 13],
];

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
  ...rareLayouts,
];

interface Group {
  readonly begin: number;
  readonly digits: string;
  /** What is between it and the group before it. */
  readonly separator: string;
}

/** Groups of digits of one line, each with at most a sign and some spaces before it. */
const runs = /\d+(?:(?:[ \t]{1,3}| ?[-./_·•+] ?|:)\d+)*/gu;

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

/** A fraction has no cards: 0.4111111111111111, and with a comma. Tables write whole numbers with .0 */
function isPartOfFraction(text: string, begin: number, end: number): boolean {
  const before = text[begin - 1];
  if (/^\.(?!0{1,2}(?!\d))\d/u.test(text.slice(end, end + 4))) return true;
  if (before === ".") return !/[A-Za-z]/u.test(text[begin - 2] ?? "");
  return before === "," && text[begin - 2] === "0" && !isDigitAt(text, begin - 3);
}

/** What may be written to a number without a space. */
const nameOfCard = /(?<![a-z])(?:card|karte|carte|tarjeta|visa|amex|cc|no|nr)$/iu;

/** Every digit, or every two, on their own, and nothing else next to them. */
function isEvenly(groups: readonly Group[]): boolean {
  const size = groups[0]!.digits.length;
  if (size > 2 || groups.length < 7 || groups.length > 19) return false;
  return groups.every(
    ({ digits }, i) => digits.length === size || (i === groups.length - 1 && digits.length < size),
  );
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
    !isNameAt(text, endOf(groups[from + count - 1]!)) &&
    (!isNameAt(text, first.begin - 1) ||
      nameOfCard.test(text.slice(Math.max(0, first.begin - 12), first.begin)));
  if (first.digits.length >= 13) {
    const isOne =
      first.digits.length <= 19 &&
      isAlone(1) &&
      !isPartOfFraction(text, first.begin, endOf(first)) &&
      isCard(first.digits, false);
    return isOne ? 1 : 0;
  }
  if (from === 0 && isEvenly(groups))
    return isAlone(groups.length) && isCard(whole(groups.length), true) ? groups.length : 0;
  // UnionPay's are as long as 19 digits more often than others.
  const usual = first.digits.startsWith("62") ? [longLayout, ...layouts] : layouts;
  const hasLayout = (layout: readonly number[]): boolean =>
    layout.every((size, i) => groups[from + i]?.digits.length === size);
  const { length } =
    usual.find((layout) => {
      const isUsual = !rareLayouts.includes(layout) || layout.length === groups.length;
      return (
        isUsual && hasLayout(layout) && isAlone(layout.length) && isCard(whole(layout.length), true)
      );
    }) ?? [];
  return length;
}

const indexes = (from: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, i) => from + i);

/** Groups of a run. */
interface Part {
  readonly from: number;
  readonly count: number;
}

/** Cards that follow each other directly. */
function neighborsOf(cards: readonly Part[]): readonly Part[] {
  const merged: Part[] = [];
  for (const card of cards) {
    const last = merged.at(-1);
    if (last !== undefined && last.from + last.count === card.from)
      merged[merged.length - 1] = { from: last.from, count: last.count + card.count };
    else merged.push(card);
  }
  return merged;
}

/** Groups next to a card that may be its date and code, or the number of a list's entry. */
const maxOthers = 3;

/** Whether the groups are some of a list of numbers with the same separators, and a card by chance. */
function isInList(groups: readonly Group[], { from, count }: Part, others: number): boolean {
  const inside = new Set(groups.slice(from + 1, from + count).map(({ separator }) => separator));
  const before = inside.has(groups[from]!.separator) ? groups[from - 1] : undefined;
  const next = groups[from + count];
  const after = next !== undefined && inside.has(next.separator) ? next : undefined;
  if (before?.digits.length !== 4 && after?.digits.length !== 4) return false;
  return others > maxOthers || (before?.digits.length === 4 && after !== undefined);
}

export function findCards(text: string): readonly Found[] {
  const found: Found[] = [];
  for (const { 0: run, index } of text.matchAll(runs)) {
    if (run.length < 13) continue;
    const groups = groupsOf(run, index);
    const cards: Part[] = [];
    for (let from = 0; from < groups.length;) {
      const count = cardLength(text, groups, from);
      if (count > 0) cards.push({ from, count });
      from += Math.max(count, 1);
    }
    const others = groups.length - cards.reduce((sum, { count }) => sum + count, 0);
    const inLists = neighborsOf(cards).filter((part) => isInList(groups, part, others));
    const isListed = new Set(inLists.flatMap(({ from, count }) => indexes(from, count)));
    for (const { from, count } of cards) {
      if (count > 1 && isListed.has(from)) continue;
      const card = groups.slice(from, from + count);
      const key = card.map(({ digits }) => digits).join("");
      found.push({ begin: card[0]!.begin, end: endOf(card.at(-1)!), key });
    }
  }
  return found;
}
