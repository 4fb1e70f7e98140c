/**
 * Parts of a prompt to ids. In markup, which a template wrote, the tokenizer's added tokens are what
 * they look like; in plain text, which anybody may have written, nothing is. Texts between control
 * tokens are encoded in one piece, as they would be in a whole prompt.
 */
import type { ControlToken } from "./control-tokens.ts";
import type { TextTokenizer } from "./tokenizer.ts";

export interface Part {
  readonly text: string;
  readonly markup: boolean;
}

/** What the template writes. */
export const markup = (text: string): Part => ({ text, markup: true });
/** What a message, a tool or a name holds. */
export const plain = (text: string): Part => ({ text, markup: false });

/** Control tokens of `text` and the text between them. */
function* splitMarkup(
  tokenizer: TextTokenizer,
  text: string,
  dropped: string,
): Generator<string | ControlToken> {
  const { pattern, byText } = tokenizer.controls;
  let end = 0;
  for (const match of pattern === null ? [] : text.matchAll(pattern)) {
    const [found] = match;
    // A token of one character cannot be broken by a mark inside, so the mark stands after it.
    if (found.length === 1 && dropped !== "" && text[match.index + 1] === dropped) continue;
    yield text.slice(end, match.index);
    yield byText.get(found) as ControlToken;
    end = match.index + found.length;
  }
  yield text.slice(end);
}

/** @param dropped a character that marks what is no control token, and is not encoded itself */
export function buildTokens(
  tokenizer: TextTokenizer,
  parts: readonly Part[],
  dropped = "",
): number[] {
  const out: number[] = [];
  let text = "";
  let stripNext = false;
  const flush = (before?: ControlToken): void => {
    let own = dropped === "" ? text : text.replaceAll(dropped, "");
    if (stripNext) own = own.trimStart();
    if (before?.lstrip === true) own = own.trimEnd();
    for (const id of tokenizer.encode(own)) out.push(id);
    text = "";
  };
  for (const part of parts) {
    if (!part.markup) {
      text += part.text;
      continue;
    }
    for (const piece of splitMarkup(tokenizer, part.text, dropped)) {
      if (typeof piece === "string") {
        text += piece;
        continue;
      }
      flush(piece);
      out.push(piece.id);
      stripNext = piece.rstrip;
    }
  }
  flush();
  return out;
}
