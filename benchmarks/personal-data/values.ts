/** Personal data as people write it, made from the numbering plans and not from the rules that find it. */
import type { PersonalKind } from "../../src/production/curate/personal-data.ts";
import type { Draw } from "./draw.ts";

/** Appends the digit that makes the sum of Luhn a multiple of ten. */
export function withLuhn(digits: string): string {
  for (let last = 0; last < 10; last++) {
    const all = [...`${digits}${last}`].toReversed().map(Number);
    const sum = all.reduce((total, digit, i) => {
      const doubled = i % 2 === 0 ? digit : digit * 2;
      return total + (doubled > 9 ? doubled - 9 : doubled);
    }, 0);
    if (sum % 10 === 0) return `${digits}${last}`;
  }
  throw new RangeError(digits);
}

/** Beginnings of real cards, their length and their groups. */
const cards: readonly (readonly [string, number, readonly number[]])[] = [
  ["4539", 16, [4, 4, 4, 4]],
  ["4716", 16, [4, 4, 4, 4]],
  ["4024", 16, [4, 4, 4, 4]],
  ["51", 16, [4, 4, 4, 4]],
  ["55", 16, [4, 4, 4, 4]],
  ["2221", 16, [4, 4, 4, 4]],
  ["2720", 16, [4, 4, 4, 4]],
  ["34", 15, [4, 6, 5]],
  ["37", 15, [4, 6, 5]],
  ["3056", 14, [4, 6, 4]],
  ["36", 14, [4, 6, 4]],
  ["6011", 16, [4, 4, 4, 4]],
  ["65", 16, [4, 4, 4, 4]],
  ["3530", 16, [4, 4, 4, 4]],
  ["62", 16, [4, 4, 4, 4]],
  ["62", 19, [4, 4, 4, 4, 3]],
  ["2202", 16, [4, 4, 4, 4]],
  ["5018", 16, [4, 4, 4, 4]],
  ["6759", 16, [4, 4, 4, 4]],
];

const arabic = (digits: string): string =>
  digits.replaceAll(/\d/gu, (digit) => String.fromCharCode(0x660 + Number(digit)));
const wide = (text: string): string =>
  text.replaceAll(/\d/gu, (digit) => String.fromCharCode(0xff10 + Number(digit)));

function card(draw: Draw): string {
  const [prefix, length, groups] = draw.of(cards);
  const digits = withLuhn(prefix + draw.digits(length - prefix.length - 1));
  if (draw.chance(0.4)) return digits;
  let at = 0;
  const parts = groups.map((size) => digits.slice(at, (at += size)));
  const text = parts.join(
    draw.of([" ", " ", " ", "-", "-", ".", "\u00a0", "\u202f", "–", "  ", " - ", "_"]),
  );
  return draw.chance(0.05) ? draw.of([arabic, wide])(text) : text;
}

/** Accounts after country and check digits: # a digit, @ a letter. */
const accounts: Readonly<Record<string, string>> = {
  AT: "################",
  BE: "############",
  BR: "#######################@#",
  CH: "#################",
  CY: "########@###############",
  CZ: "####################",
  DE: "##################",
  DK: "##############",
  EE: "################",
  ES: "####################",
  FI: "##############",
  FR: "##########@############",
  GB: "@@@@##############",
  GR: "#######################",
  HU: "########################",
  IE: "@@@@##############",
  IT: "@######################",
  LT: "################",
  LU: "################",
  MT: "@@@@##################@####",
  NL: "@@@@##########",
  NO: "###########",
  PL: "########################",
  PT: "#####################",
  RO: "@@@@################",
  SA: "####################",
  SE: "####################",
  TR: "######################",
  AE: "###################",
};

function iban(draw: Draw): string {
  const country = draw.of(Object.keys(accounts));
  const body = draw.form(accounts[country]!);
  const number = [...`${body}${country}00`]
    .map((sign) => String(Number.parseInt(sign, 36)))
    .join("");
  const check = String(98 - Number(BigInt(number) % 97n)).padStart(2, "0");
  const whole = `${country}${check}${body}`;
  const cased = draw.chance(0.2) ? whole.toLowerCase() : whole;
  if (draw.chance(0.4)) return cased;
  return cased.match(/.{1,4}/gu)!.join(draw.of([" ", " ", " ", "-", "\u00a0", "\u202f", "."]));
}

const names =
  "anna jörg rené zoë maría josé łukasz çiğdem søren иван ольга 花子 小明 minji j.doe anna.maria a_b k-lee o'neill rené.dupont x".split(
    " ",
  );
const hosts =
  "example.com example.org mail.example.co.uk müller.de société.fr пример.рф 例子.中国 xn--mller-kva.de sub-domain.example.io firma.gmbh uni.museum a.b.c.example.net 163.com".split(
    " ",
  );

function email(draw: Draw): string {
  const name =
    draw.of(names) +
    (draw.chance(0.4)
      ? draw.of([`${draw.int(1, 99)}`, "+shop", "_x", `.${draw.int(1960, 2010)}`])
      : "");
  const whole = `${name}@${draw.of(hosts)}`;
  return draw.chance(0.1) && /^[\x20-\x7e]+$/u.test(whole) ? whole.toUpperCase() : whole;
}

function ip(draw: Draw): string {
  if (draw.chance(0.55)) {
    const first = draw.of([10, 172, 192, 8, 31, 46, 77, 84, 91, 185, 203, 217]);
    return [first, draw.int(0, 255), draw.int(0, 255), draw.int(1, 254)].join(".");
  }
  const group = (): string => draw.hex(4).replace(/^0+(?=.)/u, "");
  const groups = (count: number): string => Array.from({ length: count }, group).join(":");
  const network = draw.of(["2001", "2a02", "2606", "2400", "fe80", "fd12", "2003"]);
  const text = draw.of([
    () => `${network}:${groups(7)}`,
    () => `${network}:${groups(2)}::${draw.int(1, 9)}`,
    () => `${network}::${draw.int(1, 9)}${draw.hex(2)}`,
    () => `${network}:${groups(3)}::${groups(2)}${draw.int(0, 9)}`.replace(/[\da-f]{5}$/u, "1a2b"),
    () => `::ffff:192.0.2.${draw.int(1, 254)}`,
  ])();
  return draw.chance(0.2) ? text.toUpperCase() : text;
}

/** With a country's code, with an area's code in parentheses, or in the groups of North America. */
const phones = [
  "+1 N12-N55-01##",
  "+1 (N12) N55-01##",
  "+1N12N5501##",
  "1-800-N55-01##",
  "(N12) N55-01##",
  "N12-N55-01##",
  "N12.N55.01##",
  "+44 20 79## ####",
  "+44 (0)20 79## ####",
  "+447700 9#####",
  "+49 30 #######",
  "+49 (0)30 #######",
  "0049 30 #######",
  "+4917########",
  "(030) #######",
  "(0221) ######",
  "+33 1 N# ## ## ##",
  "+33 6 ## ## ## ##",
  "0033 6 ## ## ## ##",
  "+34 6## ### ###",
  "+39 06 #### ####",
  "+39 3## #######",
  "+7 (9##) ###-##-##",
  "+79#########",
  "+55 11 9####-####",
  "+55 (11) 9####-####",
  "+81 90-####-####",
  "+81-3-####-####",
  "+86 138 #### ####",
  "+86 10 8### ####",
  "+82 10-####-####",
  "+91 98### #####",
  "+48 6## ### ###",
  "+90 5## ### ## ##",
  "+351 91# ### ###",
  "+353 85 ### ####",
  "+966 50 ### ####",
];

const phone = (draw: Draw): string => draw.form(draw.of(phones));

export const valuesOf: Readonly<Record<PersonalKind, (draw: Draw) => string>> = {
  email,
  card,
  iban,
  ip,
  phone,
};
