/** The normalization of answers of SQuAD's evaluation script (Rajpurkar et al., 2016). */

// The characters of Python's `string.punctuation`.
const punctuation = /[!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~]/gu;
// Words as Python's \b sees them: curly quotes, which are no punctuation there, end one.
const articles = /(?<![\p{L}\p{N}])(?:a|an|the)(?![\p{L}\p{N}])/gu;
// The white space of Python's `str.split`.
// oxlint-disable-next-line no-control-regex -- U+001C to U+001F are white space there
const spaces = /[\t-\r\u001C-\u0020\u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]/u;

/** The words that are compared, in order. */
export function answerTokens(text: string): readonly string[] {
  return text
    .toLowerCase()
    .replaceAll(punctuation, "")
    .replaceAll(articles, " ")
    .split(spaces)
    .filter((word) => word !== "");
}

/** Lower case, without punctuation and articles, and with single spaces. */
export const normalizeAnswer = (text: string): string => answerTokens(text).join(" ");
