/** Text of an environment as a model and a log may see it: no escape sequences, no controls, not endless. */
import { stripVTControlCharacters } from "node:util";

// Controls other than tab and line breaks, and halves of surrogate pairs, which no tokenizer can encode.
// oxlint-disable-next-line no-control-regex
const unwanted = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]|\p{Surrogate}/gu;

/**
 * Escape sequences of terminals and control characters are removed; of a text longer than `maxChars` the
 * middle is replaced by a note of how much is missing.
 */
export function plainText(text: string, maxChars: number): string {
  // Cut first, so that the work does not grow with what is thrown away.
  const cut = cutMiddle(text, maxChars);
  return stripVTControlCharacters(cut).replaceAll(unwanted, "");
}

function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  const missing = text.length - 2 * half;
  return `${text.slice(0, half)}\n[... ${missing} characters omitted ...]\n${text.slice(text.length - half)}`;
}
