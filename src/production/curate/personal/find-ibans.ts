/** Account numbers (IBAN, ISO 13616): the length and structure of their country, and the remainder by 97. */
import { type Found, isNameAt } from "./found.ts";

/** Structures of the registry after country and check digits (n digits, a letters, c both), and their countries. */
const registry =
  "8n12c:AD 19n:AEILSOTL 8n16c:ALCY 21n:AOCVLYMZPTST 16n:ATBAEELTMNXK 14n:AXDKFIFOGLSD 4a20c:AZ 12n:BE 2c22n:BFBJML " +
  "4a6n8c:BG 4a14c:BH 23n:BICFCGCMDJGAGQKMMGMRTD 10n11c2n:BLFRGFGPMCMFMQNCPFPMRETFWFYT 23n1a1c:BR 4a4n16c:BY 5n12c:CHLI " +
  "1a23n:CI 18n:CRDEMERSVA 20n:CZESSESKTN 4a20n:DOHNNISV 22n:DZIRIS 25n:EG 2a12n:FK 4a14n:GB 2c16n:GE 4a15c:GI 7n16c:GR " +
  "24c:GT 2a19n:GW 17n:HR 24n:HUMAPL 4c14n:IE 4a15n:IQ 1a10n12c:ITSM 4a4n18c:JOYE 4a22c:KW 3n13c:KZLU 4n20c:LB 4a24c:LC " +
  "4a13c:LV 20c:MD 3n10c2n:MK 4a5n18c:MT 4a19n3a:MU 2a22n:NESNTG 4a10n:NL 11n:NO 3n16c:OM 4c16n:PKVG 4c21n:PS 4a21c:QA " +
  "4a16c:RO 14n15c:RU 2n18c:SA 4a20n3a:SC 15n:SI 5n17c:TR 6n19c:UA";

const classes = { n: String.raw`\d`, a: "[A-Z]", c: String.raw`[A-Z\d]` };

interface Country {
  readonly length: number;
  readonly form: RegExp;
}

const countries: ReadonlyMap<string, Country> = new Map(
  registry.split(" ").flatMap((entry) => {
    const [structure, codes] = entry.split(":") as [string, string];
    const parts = [...structure.matchAll(/(\d+)([nac])/gu)];
    const length = parts.reduce((sum, [, count]) => sum + Number(count), 4);
    const body = parts.map(([, count, kind]) => `${classes[kind as "n"]}{${count}}`).join("");
    const country = { length, form: new RegExp(String.raw`^[A-Z]{2}\d{2}${body}$`, "u") };
    return codes.match(/../gu)!.map((code) => [code, country] as const);
  }),
);

function hasRemainderOne(iban: string): boolean {
  let rest = 0;
  for (const sign of iban.slice(4) + iban.slice(0, 4))
    for (const digit of String(Number.parseInt(sign, 36))) rest = (rest * 10 + Number(digit)) % 97;
  return rest === 1;
}

/** Two letters and two digits; "IBAN" may be written to them. */
const beginnings =
  /(?:(?<![A-Za-z\d])|(?<=\bIBAN))[A-Za-z]{2}[ -]?\d{2}(?=[ ./:_-]{0,2}[A-Za-z\d])/giu;

/** Its letters and digits may be in groups. */
const maxSeparator = 2;

/** From `begin` as many letters and digits as an account of this country has. */
function readSigns(text: string, begin: number, count: number): { signs: string; end: number } {
  let signs = "";
  let [at, separator] = [begin, 0];
  for (; signs.length < count && at < text.length; at++) {
    if (isNameAt(text, at)) {
      signs += text[at];
      separator = 0;
    } else if (!" ./:_-".includes(text[at]!) || ++separator > maxSeparator) break;
  }
  return { signs: signs.toUpperCase(), end: at };
}

export function findIbans(text: string): readonly Found[] {
  const found: Found[] = [];
  for (const { 0: first, index } of text.matchAll(beginnings)) {
    const country = countries.get(first.slice(0, 2).toUpperCase());
    if (country === undefined) continue;
    const { signs, end } = readSigns(text, index, country.length);
    if (isNameAt(text, end) || !country.form.test(signs) || !hasRemainderOne(signs)) continue;
    found.push({ begin: index, end, key: signs });
  }
  return found;
}
