/** The added tokens of a `tokenizer.json`, and where they occur in a text. */

export interface ControlToken {
  readonly id: number;
  readonly text: string;
  /** Hidden from decoded text. */
  readonly special: boolean;
  /** Whitespace before (after) it belongs to it. */
  readonly lstrip: boolean;
  readonly rstrip: boolean;
}

export interface ControlTokens {
  readonly byText: ReadonlyMap<string, ControlToken>;
  /** All of them, the longest first; null when there are none. */
  readonly pattern: RegExp | null;
}

interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly special?: boolean;
  readonly lstrip?: boolean;
  readonly rstrip?: boolean;
}

const htmlTags =
  "table caption thead tbody tfoot tr th td h1 h2 h3 h4 h5 h6 blockquote strong em b i u s sub sup code a html body " +
  "img span bbox ul li div iframe footer";
const wordPattern = new RegExp(
  `^(?:\\n+|\\t+|\u2581+|</?(?:${htmlTags.replaceAll(" ", "|")})>)$`,
  "u",
);

/**
 * Gemma has HTML tags and runs of spaces as added tokens. They are words of any text, not tokens of a format, which a
 * message must not write.
 */
export function isWord({ content, special = false }: AddedToken): boolean {
  return !special && wordPattern.test(content);
}

/** The parts of a `tokenizer.json` that are read here; everything may be missing. */
export interface TokenizerFile {
  readonly added_tokens?: readonly AddedToken[];
  readonly model?: { readonly vocab?: unknown };
  readonly decoder?: { readonly type?: unknown } | null;
}

export function readControlTokens(file: TokenizerFile): ControlTokens {
  const tokens = (file.added_tokens ?? [])
    .filter((token) => token.content !== "" && !isWord(token))
    .map((token): ControlToken => ({
      id: token.id,
      text: token.content,
      special: token.special ?? false,
      lstrip: token.lstrip ?? false,
      rstrip: token.rstrip ?? false,
    }))
    .sort((a, b) => b.text.length - a.text.length);
  const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
  const alternatives = tokens.map(({ text }) => escaped(text)).join("|");
  // Checking the first character first avoids hundreds of comparisons at most positions.
  const firsts = escaped([...new Set(tokens.map(({ text }) => [...text][0] ?? ""))].join(""));
  return {
    byText: new Map(tokens.map((token) => [token.text, token])),
    pattern: tokens.length === 0 ? null : new RegExp(`(?=[${firsts}])(?:${alternatives})`, "g"),
  };
}
