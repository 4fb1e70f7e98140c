/** Parts of a text that instructions count: words, sentences, paragraphs. All in linear time. */

/** Runs of letters, digits and underscores, as `\w+` in Python. */
export const wordsOf = (text: string): readonly string[] => text.match(/[\p{L}\p{N}_]+/gu) ?? [];

const abbreviations = new Set(["mr", "mrs", "ms", "dr", "st", "prof", "e.g", "i.e", "vs", "etc"]);

/**
 * Sentences: they end with `.`, `!` or `?` and white space, but not after a common abbreviation or a
 * single letter. IFEval's script uses a trained model (punkt), which differs in rare cases.
 */
export function sentencesOf(text: string): readonly string[] {
  const sentences: string[] = [];
  let start = 0;
  let wordStart = 0;
  const add = (end: number): void => {
    const sentence = text.slice(start, end).trim();
    if (sentence !== "") sentences.push(sentence);
    start = end;
  };
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (char.trim() === "") wordStart = i + 1;
    if (!".!?".includes(char)) continue;
    let end = i + 1;
    while (end < text.length && `.!?"')]”’`.includes(text[end]!)) end++;
    const isAtEnd = end >= text.length || text[end]!.trim() === "";
    const word = text.slice(wordStart, Math.min(i, wordStart + 20)).toLowerCase();
    const isAbbreviation =
      char === "." && (abbreviations.has(word) || /^[a-z]$/u.test(word)) && end === i + 1;
    if (isAtEnd && !isAbbreviation) add(end);
    i = end - 1;
  }
  add(text.length);
  return sentences;
}

/** How often a text occurs without overlap, in any case. */
export function countOf(text: string, part: string): number {
  const [lower, wanted] = [text.toLowerCase(), part.toLowerCase()];
  return wanted === "" ? 0 : lower.split(wanted).length - 1;
}

/** Whether a word or phrase occurs with no letter, digit or underscore next to it, in any case. */
export function hasWord(text: string, word: string): boolean {
  const [lower, wanted] = [text.toLowerCase(), word.toLowerCase()];
  if (wanted === "") return false;
  const isWordChar = (char: string | undefined): boolean =>
    char !== undefined && /[\p{L}\p{N}_]/u.test(char);
  for (let at = lower.indexOf(wanted); at !== -1; at = lower.indexOf(wanted, at + wanted.length)) {
    if (!isWordChar(lower[at - 1]) && !isWordChar(lower[at + wanted.length])) return true;
  }
  return false;
}

/** Upper or lower case as Python's `isupper` and `islower`: at least one letter, and none of the other. */
export const isAll = (text: string, side: "upper" | "lower"): boolean =>
  text.toUpperCase() !== text.toLowerCase() &&
  text === (side === "upper" ? text.toUpperCase() : text.toLowerCase());
