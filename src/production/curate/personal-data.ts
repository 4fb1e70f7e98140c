/**
 * Replaces personal data that a rule can find: addresses of mail, numbers of phones, cards and accounts, IP
 * addresses. The same value gets the same name within a row, so that a conversation stays coherent. Names of people
 * have no rule: they are for a hook. Linear in the length of the text.
 */
import { findAddresses } from "./personal/find-addresses.ts";
import { findCards } from "./personal/find-cards.ts";
import { findIbans } from "./personal/find-ibans.ts";
import { findMail } from "./personal/find-mail.ts";
import {
  findAmericanPhones,
  findInternationalPhones,
  findPhonesWithArea,
} from "./personal/find-phones.ts";
import type { Found } from "./personal/found.ts";
import { plainSigns } from "./personal/plain-signs.ts";

/** What personal data is replaced as. */
export type PersonalKind = "email" | "card" | "iban" | "ip" | "phone";

/** What one rule has found is not looked at by the next ones. */
const rules: readonly (readonly [PersonalKind, (text: string) => readonly Found[]])[] = [
  ["email", findMail],
  ["iban", findIbans],
  ["card", findCards],
  ["ip", findAddresses],
  ["phone", findInternationalPhones],
  ["phone", findAmericanPhones],
  ["phone", findPhonesWithArea],
];

/** What has neither a digit nor an at sign has no value of any kind. */
const mayHaveOne = /[\p{Nd}@＠]/u;

/** Neither a letter nor a digit, nor a sign of any value. */
const blank = "\0";

interface Change extends Found {
  readonly by: string;
}

/** `text` with other texts in place of what was found in it, which is in order. */
function changed(text: string, changes: readonly Change[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { begin, end, by } of changes) {
    parts.push(text.slice(at, begin), by);
    at = end;
  }
  return changes.length === 0 ? text : parts.join("") + text.slice(at);
}

/** Replaces what it finds in the texts of one row. */
export class PersonalData {
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<PersonalKind, number>();

  /** How many different values of each kind. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  replace(text: string): string {
    if (!mayHaveOne.test(text)) return text;
    const all: (Found & { readonly kind: PersonalKind })[] = [];
    let plain = plainSigns(text);
    for (const [kind, find] of rules) {
      const found = find(plain);
      for (const one of found) all.push({ ...one, kind });
      plain = changed(
        plain,
        found.map((one) => ({ ...one, by: blank.repeat(one.end - one.begin) })),
      );
    }
    return changed(
      text,
      all
        .toSorted((a, b) => a.begin - b.begin)
        .map((one) => ({ ...one, by: this.#nameOf(one.kind, one.key) })),
    );
  }

  #nameOf(kind: PersonalKind, key: string): string {
    const known = this.#names.get(`${kind}:${key}`);
    if (known !== undefined) return known;
    const number = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, number);
    const name = `[${kind} ${number}]`;
    this.#names.set(`${kind}:${key}`, name);
    return name;
  }
}
