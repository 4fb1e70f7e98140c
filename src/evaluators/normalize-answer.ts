/** The normalization of answers of SQuAD's evaluation script (Rajpurkar et al., 2016). */

// The characters of Python's `string.punctuation`.
const punctuation = /[!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~]/gu;
const articles = new Set(["a", "an", "the"]);

/** The words that are compared, in order. */
export function answerTokens(text: string): readonly string[] {
  return text
    .toLowerCase()
    .replaceAll(punctuation, "")
    .split(/\s/u)
    .filter((word) => word !== "" && !articles.has(word));
}

/** Lower case, without punctuation and articles, and with single spaces. */
export const normalizeAnswer = (text: string): string => answerTokens(text).join(" ");
