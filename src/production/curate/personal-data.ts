/**
 * Replaces personal data that a rule can find: addresses of mail, numbers of phones, cards and accounts, IP
 * addresses. The same value gets the same name within a row, so that a conversation stays coherent. Names of people
 * have no rule: they are for a hook. Linear in the length of the text.
 */

type Kind = "email" | "card" | "iban" | "ip" | "phone";

/** The sum of Luhn, which cards have and other long numbers rarely. */
function isCard(text: string): boolean {
  const digits = text.replaceAll(/\D/gu, "");
  if (digits.length < 13 || digits.length > 19) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** The remainder by 97, which is 1 for an account number (ISO 13616). */
function isIban(text: string): boolean {
  const compact = text.replaceAll(" ", "");
  if (compact.length < 15 || compact.length > 34) return false;
  let rest = 0;
  for (const sign of compact.slice(4) + compact.slice(0, 4))
    for (const digit of String(Number.parseInt(sign, 36))) rest = (rest * 10 + Number(digit)) % 97;
  return rest === 1;
}

const isIp = (text: string): boolean => text.split(".").every((part) => Number(part) <= 255);

/** A country code, or a code in parentheses: dates, amounts and order numbers have neither. */
const isPhone = (text: string): boolean => {
  const { length } = text.replaceAll(/\D/gu, "");
  return length >= 7 && length <= 15;
};

const always = (): boolean => true;

const rules: readonly (readonly [Kind, RegExp, (text: string) => boolean])[] = [
  ["email", /(?<![\w.+-])[\w.+-]{1,64}@[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63}){1,8}/giu, always],
  ["iban", /\b[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){2,7}(?: ?[A-Z\d]{1,3})?\b/gu, isIban],
  ["card", /(?<![\d.-])\d(?:[ -]?\d){12,18}(?![\d.-])/gu, isCard],
  ["ip", /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])/gu, isIp],
  [
    "phone",
    /(?<![\w+])(?:(?:\+\d{1,3}[ .-]?)?\(\d{2,4}\)(?:[ .-]?\d){5,9}(?!\d)|\+\d(?:[ .-]?\d){6,14}(?!\d)|(?<![.-])\d{3}[.-]\d{3}[.-]\d{4}(?![\w-]))/gu,
    isPhone,
  ],
];

/** Replaces what it finds in the texts of one row. */
export class PersonalData {
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<Kind, number>();

  /** How many different values of each kind. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  replace(text: string): string {
    return rules.reduce(
      (clean, [kind, pattern, isOne]) =>
        clean.replace(pattern, (found) => (isOne(found) ? this.#nameOf(kind, found) : found)),
      text,
    );
  }

  #nameOf(kind: Kind, value: string): string {
    const key = kind === "email" ? value.toLowerCase() : value.replaceAll(/[ .-]/gu, "");
    const known = this.#names.get(`${kind}:${key}`);
    if (known !== undefined) return known;
    const number = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, number);
    const name = `[${kind} ${number}]`;
    this.#names.set(`${kind}:${key}`, name);
    return name;
  }
}
