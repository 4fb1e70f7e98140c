/**
 * Parts of a prompt to ids. In markup, which comes from a template, the tokenizer's added tokens are
 * recognized; in plain text, which is untrusted, they are not. Texts between control
 * tokens are encoded in one piece, as they would be in a whole prompt.
 */
import { ContextOverflowError } from "../../core/errors.ts";
import type { ControlToken } from "../tokenizers/control-tokens.ts";
import type { TextTokenizer } from "../tokenizers/tokenizer.ts";

export interface Part {
  readonly text: string;
  readonly markup: boolean;
}

/** Text from the template. */
export const markup = (text: string): Part => ({ text, markup: true });
/** Text from a message, a tool or a name. */
export const plain = (text: string): Part => ({ text, markup: false });

/** Control tokens of `text` and the text between them. */
function* splitMarkup(tokenizer: TextTokenizer, text: string): Generator<string | ControlToken> {
  const { pattern, byText } = tokenizer.controls;
  let end = 0;
  for (const match of pattern === null ? [] : text.matchAll(pattern)) {
    const [found] = match;
    yield text.slice(end, match.index);
    yield byText.get(found) as ControlToken;
    end = match.index + found.length;
  }
  yield text.slice(end);
}

export interface BuildOptions {
  /** As in `RenderOptions`; without the tokens that come before. @default no limit */
  readonly contextLength?: number | undefined;
}

/** Yields each text that is to be encoded, and is given its ids. */
export type Encoding<T> = Generator<string, T, Iterable<number>>;

/** UTF-8 bytes per UTF-16 unit; a byte counts as at most one token in the bound. */
const maxBytesPerUnit = 3;

/** @throws ContextOverflowError before anything is encoded. */
export function* buildTokens(
  tokenizer: TextTokenizer,
  parts: readonly Part[],
  { contextLength = Infinity }: BuildOptions = {},
): Encoding<number[]> {
  const pieces = cutParts(tokenizer, parts);
  const units = pieces.reduce<number>(
    (sum, piece) => sum + (typeof piece === "number" ? 1 : maxBytesPerUnit * piece.length),
    0,
  );
  if (units >= contextLength) {
    let least = 0;
    for (const piece of pieces) least += typeof piece === "number" ? 1 : tokenizer.minTokens(piece);
    if (least >= contextLength)
      throw new ContextOverflowError(Math.ceil(least), contextLength, "least");
  }
  const out: number[] = [];
  for (const piece of pieces) {
    if (typeof piece === "number") out.push(piece);
    else for (const id of yield piece) out.push(id);
  }
  return out;
}

/** Synchronously. */
export function encodeNow<T>(tokenizer: TextTokenizer, encoding: Encoding<T>): T {
  let step = encoding.next();
  while (step.done !== true) step = encoding.next(tokenizer.encode(step.value));
  return step.value;
}

/** Characters of short texts after which other work may run. */
const charactersPerTurn = 8192;

/** Encodes long texts in another thread. */
export async function encodeLater<T>(
  tokenizer: TextTokenizer,
  encoding: Encoding<T>,
  signal: AbortSignal,
): Promise<T> {
  let step = encoding.next();
  let characters = 0;
  while (step.done !== true) {
    characters += step.value.length;
    if (characters > charactersPerTurn) {
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      characters = 0;
    }
    step = encoding.next(await tokenizer.encodeLater(step.value, signal));
  }
  return step.value;
}

/** Ids of control tokens, and the texts between them. */
function cutParts(tokenizer: TextTokenizer, parts: readonly Part[]): readonly (string | number)[] {
  const out: (string | number)[] = [];
  let text = "";
  let stripNext = false;
  const flush = (before?: ControlToken): void => {
    let own = text;
    if (stripNext) own = own.trimStart();
    if (before?.lstrip === true) own = own.trimEnd();
    if (own !== "") out.push(own);
    text = "";
  };
  for (const part of parts) {
    if (!part.markup) {
      text += part.text;
      continue;
    }
    for (const piece of splitMarkup(tokenizer, part.text)) {
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
