/** What can be seen of a response's text without knowing its task: that it is garbled, or repeats itself. */

/** Of a long text, so many characters from its beginning and from its end are read. */
const sampled = 2000;

const sampleOf = (text: string): string =>
  text.length <= 2 * sampled ? text : `${text.slice(0, sampled)}\n${text.slice(-sampled)}`;

/** Replacement characters, controls other than white space, and code points that no text has. */
const unreadable = /[\uFFFD\p{Co}\p{Cn}\p{Cs}]|(?![\t\n\r])\p{Cc}/gu;
const letters = /\p{L}/gu;
/** Letters of two scripts with nothing between them; kana and Han belong together. */
const switches = new RegExp(
  ["Latin", "Cyrillic", "Arabic", "Hangul", "Thai", "Greek", "Hebrew", "Devanagari"]
    .map((script) => String.raw`\p{Script=${script}}`)
    .concat(String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Lm}]`)
    .map((script) => String.raw`${script}(?!${script})(?=\p{L})`)
    .join("|"),
  "gu",
);

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

/** Whether more than 1 in 20 characters is unreadable, or letters of different scripts are mixed within words. */
export function isGarbled(text: string): boolean {
  const seen = sampleOf(text);
  const bad = count(seen, unreadable);
  if (bad >= 2 && bad > 0.05 * seen.length) return true;
  const mixed = count(seen, switches);
  return mixed >= 4 && mixed > 0.1 * count(seen, letters);
}

const longestPeriod = 256;

/** Whether the text ends in the same piece, at least four times and over at least 60 characters. */
function endsInLoop(text: string): boolean {
  const tail = text.trimEnd().slice(-1200);
  for (let period = 1; period <= longestPeriod && period < tail.length; period++) {
    // A ruler of dashes or a row of dots is no loop.
    const least = period <= 2 ? 200 : Math.max(3 * period, 60);
    let same = 0;
    while (
      same + period < tail.length &&
      tail[tail.length - 1 - same] === tail[tail.length - 1 - same - period]
    )
      same++;
    if (same >= least) return true;
  }
  return false;
}

/** Fraction of the sequences of four words that are not the first of their kind. */
function repeatedWords(text: string): number {
  const words = text.split(/\s+/u).filter((word) => word !== "");
  if (words.length < 60) return 0;
  const seen = new Set<string>();
  for (let i = 0; i + 4 <= words.length; i++) seen.add(words.slice(i, i + 4).join(" "));
  return 1 - seen.size / (words.length - 3);
}

/** Whether it ends in a loop, or most of its sequences of four words occurred before. */
export function isRepetitive(text: string): boolean {
  return endsInLoop(text) || repeatedWords(sampleOf(text)) > 0.6;
}
