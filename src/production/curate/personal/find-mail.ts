/** Addresses of mail, also with letters beyond ASCII: a name, an at sign, and a domain that ends in letters. */
import type { Found } from "./found.ts";

const at = /@|%40/giu;

const nameSign = /[\p{L}\p{M}\p{N}._%+'’-]/u;
const longestName = 64;
const domain =
  /^(?:[\p{L}\p{M}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?\.)+(?:xn--[a-z\d-]{2,59}|[\p{L}\p{M}]{2,63})/iu;
const longestDomain = 253;
const around = 32;

/** Scripts without spaces between words: there a name in ASCII ends where the other signs begin. */
const dense =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/** Whether a name continues to the left of `begin`. */
function isOfName(text: string, begin: number): boolean {
  const sign = text[begin - 1]!;
  if (!nameSign.test(sign)) return false;
  // O'Neill, but no quotes.
  if (/['’]/u.test(sign))
    return /(?:^|[^\p{Script=Latin}\p{N}])[dlo]$/iu.test(
      text.slice(Math.max(0, begin - 3), begin - 1),
    );
  return !dense.test(sign) || /\P{L}/u.test(text[begin]!) || dense.test(text[begin]!);
}

function nameBefore(text: string, end: number): number {
  let begin = end;
  while (begin > Math.max(0, end - longestName) && isOfName(text, begin)) begin--;
  // Signs are in a name, not before it.
  while (begin < end && /[._%+'’-]/u.test(text[begin]!)) begin++;
  return begin;
}

/** Of a file (icon@2x.png), a version (pkg@1.2.3-beta.rc) or an expression (a@b.mean(0)). */
const noDomain = /^(?:\dx\.|\d+\.\d+(?:\.|$))/u;
const codeAfter = /^(?:\((?:\)|-?\d|[a-z_]+=)|_[a-z\d])/iu;

/** The beginning of a sentence that was written to the domain: example.com.Please */
const sentence = /(?<=\.\p{Ll}{2,})\.\p{Lu}\p{Ll}*$/u;

/** A last part is in one script: in another script, the sentence continues. */
const lastPart =
  /^(?:\p{Script=Han}+|[\p{Script=Hiragana}\p{Script=Katakana}ー]+|\p{Script=Hangul}+|\p{Script=Thai}+|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]+)/u;

function domainAfter(text: string, begin: number): string {
  const found = domain.exec(text.slice(begin, begin + longestDomain))?.[0] ?? "";
  const last = found.lastIndexOf(".") + 1;
  const whole = found.slice(0, last) + (lastPart.exec(found.slice(last))?.[0] ?? "");
  return whole.replace(sentence, "");
}

export function findMail(text: string): readonly Found[] {
  const found: Found[] = [];
  for (const { 0: sign, index } of text.matchAll(at)) {
    const begin = nameBefore(text, index);
    const name = text.slice(begin, index);
    if (name === "") continue;
    const host = domainAfter(text, index + sign.length);
    const end = index + sign.length + host.length;
    const isRemote = name === "git" && text[end] === ":";
    if (host === "" || noDomain.test(host) || isRemote) continue;
    if (codeAfter.test(text.slice(end, end + around))) continue;
    found.push({ begin, end, key: `${name}@${host}`.toLowerCase() });
  }
  return found;
}
