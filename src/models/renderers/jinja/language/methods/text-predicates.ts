/** What `"text".isdigit()` and its siblings say. */
import { charactersPerStep, spend } from "../limits.ts";
import { spaces } from "../lexer.ts";
import type { Str } from "../str.ts";
import { isPrintable } from "../write.ts";
import type { Methods } from "./method.ts";

/** Superscripts, subscripts and digits in circles, which count as digits but not as decimals. */
const digits = "\\p{Nd}²³¹⁰⁴-⁹₀-₉①-⑨⑴-⑼⒈-⒐⓪⓵-⓽❶-❾➀-➈➊-➒";
/** Ideographs that are numbers. */
const numbers = "\\p{N}〇一二三四五六七八九十百千万億兆零壱弐参拾";

const all =
  (pattern: string) =>
  ({ text }: Str): boolean => {
    spend(text.length / charactersPerStep);
    return new RegExp(`^${pattern}$`, "u").test(text);
  };

/** Whether there are letters with case, and all of them have this one. */
const cased =
  (other: RegExp) =>
  ({ text }: Str): boolean => {
    spend(text.length / charactersPerStep);
    return /\p{Cased}/u.test(text) && !other.test(text);
  };

export const textPredicates: Methods<Str> = {
  isalnum: all(`[\\p{L}${numbers}]+`),
  isalpha: all("\\p{L}+"),
  isascii: ({ text }) => !/[^\0-\x7f]/.test(text),
  isdecimal: all("\\p{Nd}+"),
  isdigit: all(`[${digits}]+`),
  isidentifier: all("[\\p{L}\\p{Nl}_][\\p{L}\\p{N}\\p{Mn}\\p{Mc}\\p{Pc}]*"),
  islower: cased(/[\p{Lu}\p{Lt}]/u),
  isnumeric: all(`[${numbers}]+`),
  isprintable: ({ text }) => text === "" || isPrintable(text),
  isspace: all(`[${spaces}]+`),
  istitle({ text }) {
    spend(text.length / charactersPerStep);
    const words = text.match(/\p{Cased}+/gu) ?? [];
    return (
      words.length > 0 && words.every((word) => /^[\p{Lu}\p{Lt}][^\p{Lu}\p{Lt}]*$/u.test(word))
    );
  },
  isupper: cased(/[\p{Ll}\p{Lt}]/u),
};
