/** Cutting a str: by white space, by a separator, by lines, at its ends. */
import { fail } from "../errors.ts";
import { charactersPerStep, checkSize, spend } from "../limits.ts";
import { spaces } from "../lexer.ts";
import { empty, type Str } from "../str.ts";

const isSpace = new RegExp(`^[${spaces}]$`);
const words = new RegExp(`[^${spaces}]+`, "g");

/** @param characters what to remove from the ends; null for white space */
export function strip(self: Str, characters: Str | null, isLeft: boolean, isRight: boolean): Str {
  const { text } = self;
  const set = new Set(characters?.text);
  const removed = (character: string): boolean =>
    characters === null ? isSpace.test(character) : set.has(character);
  let [start, end] = [0, text.length];
  for (const one of isLeft ? text : "") {
    if (!removed(one)) break;
    start += one.length;
  }
  const stop = isRight ? start : end;
  while (end > stop) {
    const wide =
      end - start > 1 && /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(end - 2, end));
    const one = text.slice(end - (wide ? 2 : 1), end);
    if (!removed(one)) break;
    end -= one.length;
  }
  spend((text.length - (end - start)) / charactersPerStep);
  return self.cut(start, end);
}

/** @param separator null: any white space, of which none is left at the ends; `most` below 0: no limit */
export function split(
  self: Str,
  separator: string | null,
  most: number,
  isRight: boolean,
): readonly Str[] {
  const limit = most < 0 ? Infinity : most;
  const parts =
    separator === null
      ? byWords(self, limit, isRight)
      : bySeparator(self, separator, limit, isRight);
  checkSize(parts.length);
  spend(parts.length + self.text.length / charactersPerStep);
  return parts;
}

function byWords(self: Str, limit: number, isRight: boolean): Str[] {
  const found = [...self.text.matchAll(words)].map(
    ({ 0: word, index }) => [index, index + word.length] as const,
  );
  if (found.length <= limit) return found.map(([start, end]) => self.cut(start, end));
  if (isRight) {
    const rest = found.length - limit;
    const cut = found.slice(rest).map(([start, end]) => self.cut(start, end));
    return [self.cut(0, found[rest - 1]![1]), ...cut];
  }
  const cut = found.slice(0, limit).map(([start, end]) => self.cut(start, end));
  return [...cut, self.cut(found[limit]![0])];
}

function bySeparator(self: Str, separator: string, limit: number, isRight: boolean): Str[] {
  if (separator === "") fail("ValueError", "empty separator");
  const { text } = self;
  const parts: Str[] = [];
  if (isRight) {
    let end = text.length;
    while (parts.length < limit && end >= separator.length) {
      const at = text.lastIndexOf(separator, end - separator.length);
      if (at === -1) break;
      parts.push(self.cut(at + separator.length, end));
      end = at;
    }
    parts.push(self.cut(0, end));
    return parts.toReversed();
  }
  let start = 0;
  while (parts.length < limit) {
    const at = text.indexOf(separator, start);
    if (at === -1) break;
    parts.push(self.cut(start, at));
    start = at + separator.length;
  }
  parts.push(self.cut(start));
  return parts;
}

/** What is before the separator, the separator, what is after it. */
export function splitOnce(self: Str, separator: Str, isRight: boolean): readonly Str[] {
  const { text } = separator;
  if (text === "") fail("ValueError", "empty separator");
  const at = isRight ? self.text.lastIndexOf(text) : self.text.indexOf(text);
  if (at === -1) return isRight ? [empty, empty, self] : [self, empty, empty];
  const end = at + text.length;
  return [self.cut(0, at), self.cut(at, end), self.cut(end)];
}

// oxlint-disable-next-line no-control-regex
const lineEnd = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/g;

export function splitLines(self: Str, keepsEnds = false): readonly Str[] {
  const lines: Str[] = [];
  let start = 0;
  for (const { 0: end, index } of self.text.matchAll(lineEnd)) {
    lines.push(self.cut(start, keepsEnds ? index + end.length : index));
    start = index + end.length;
  }
  if (start < self.text.length) lines.push(self.cut(start));
  checkSize(lines.length);
  spend(lines.length + self.text.length / charactersPerStep);
  return lines;
}
