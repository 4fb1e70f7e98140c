/**
 * The normalization of answers of SQuAD's evaluation script (Rajpurkar et al., 2016), except for the punctuation of
 * numbers, which stays: in the script, 1.5 is 15, and -3 is 3.
 */
import { evaluatorError } from "./scorer.ts";

// The characters of Python's `string.punctuation`.
const punctuation = /[!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~]/gu;
// Words as Python's \b sees them: curly quotes, which are no punctuation there, end one.
const articles = /(?<![\p{L}\p{N}])(?:a|an|the)(?![\p{L}\p{N}])/gu;
// The white space of Python's `str.split`.
// oxlint-disable-next-line no-control-regex -- U+001C to U+001F are white space there
const spaces = /[\t-\r\u001C-\u0020\u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]/u;

const minus = /−(?=[$.]?\d)/gu;
const isDigit = (char: string | undefined): boolean => char !== undefined && /\d/u.test(char);

/** Whether punctuation is a part of a number: within it, but not between thousands, or before it. */
function isOfNumber(sign: string, at: number, text: string): boolean {
  const [before = "", after = ""] = [text[at - 1], text[at + 1]];
  if (isDigit(before) && isDigit(after)) {
    return !(",_'".includes(sign) && /^\d{3}(?!\d)/u.test(text.slice(at + 1, at + 5)));
  }
  if (before === "e" && isDigit(text[at - 2])) return sign === "-" && isDigit(after);
  if (before === sign || /[\p{L}\p{N}]/u.test(before)) return false;
  const isNumber = isDigit(after) || ("$.".includes(after) && isDigit(text[at + 2]));
  return sign === "-" ? isNumber : sign === "." && isDigit(after);
}

/** The words that are compared, in order. */
export function answerTokens(text: string): readonly string[] {
  return text
    .toLowerCase()
    .replaceAll(minus, "-")
    .replaceAll(punctuation, (sign, at: number, whole: string) =>
      isOfNumber(sign, at, whole) ? sign : "",
    )
    .replaceAll(articles, " ")
    .split(spaces)
    .filter((word) => word !== "");
}

/** Lower case, without punctuation and articles, and with single spaces. */
export const normalizeAnswer = (text: string): string => answerTokens(text).join(" ");

/** Those of a reference answer. @throws AgentTrainerError where there are none: an empty response would have them all */
export function referenceTokens(text: string, taskId: string): readonly string[] {
  const tokens = answerTokens(text);
  if (tokens.length > 0) return tokens;
  throw evaluatorError(
    `The reference answer ${JSON.stringify(text.slice(0, 100))} of task "${taskId}" is only articles and punctuation, which are not compared.`,
    "Use exactMatch or multipleChoice, or a reference with another word.",
    { taskId },
  );
}
