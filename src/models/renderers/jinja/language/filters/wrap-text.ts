/** Jinja's `wordwrap`: every line by Python's `textwrap`. */
import { indexOf, textOf } from "../numbers.ts";
import { splitLines } from "../methods/text-parts.ts";
import { checkSize } from "../limits.ts";
import { fail } from "../errors.ts";
import { Str } from "../str.ts";
import { isTrue, none, type Args } from "../values.ts";

/** White space, words, and with hyphens the parts that end in one. */
const hyphenated = /\s+|[^\s-]+-(?=\p{L})|[^\s-]+|-+(?=\p{L})|-+[^\s-]*/gu;
const plain = /\s+|\S+/g;

function wrapLine(line: Str, width: number, breaksWords: boolean, pattern: RegExp): Str[] {
  const chunks = Array.from(line.text.matchAll(pattern), ({ 0: found, index }) =>
    line.cut(index, index + found.length),
  ).toReversed();
  const lines: Str[] = [];
  const isBlank = (chunk: Str | undefined): boolean =>
    chunk !== undefined && chunk.text.trim() === "";
  while (chunks.length > 0) {
    if (lines.length > 0 && isBlank(chunks.at(-1))) chunks.pop();
    const current: Str[] = [];
    let length = 0;
    while (chunks.length > 0 && length + chunks.at(-1)!.length <= width) {
      const chunk = chunks.pop()!;
      current.push(chunk);
      length += chunk.length;
    }
    const long = chunks.at(-1);
    if (long !== undefined && long.length > width) {
      chunks.pop();
      if (breaksWords) {
        const characters = long.characters();
        const room = Math.max(1, width - length);
        current.push(Str.join(characters.slice(0, room)));
        chunks.push(Str.join(characters.slice(room)));
      } else if (current.length === 0) current.push(long);
      else chunks.push(long);
    }
    if (isBlank(current.at(-1))) current.pop();
    if (current.length > 0) lines.push(Str.join(current));
  }
  return lines;
}

export function wrapText(text: Str, args: Args): Str {
  const [width = 79n, breaks = true, between = none, hyphens = true] = args.take("wordwrap", [
    "width",
    "break_long_words",
    "wrapstring",
    "break_on_hyphens",
  ]);
  const columns = indexOf(width);
  if (columns <= 0) fail("ValueError", `invalid width ${columns} (must be > 0)`);
  checkSize(text.text.length * 4);
  const end = between === none ? Str.own("\n") : textOf(between, "wordwrap");
  const pattern = isTrue(hyphens) ? hyphenated : plain;
  return Str.join(
    splitLines(text).map((line) => Str.join(wrapLine(line, columns, isTrue(breaks), pattern), end)),
    end,
  );
}
