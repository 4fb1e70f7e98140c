/**
 * Keeps what looks like a control token inside a message from becoming one in a template's output: an
 * invisible mark is put behind the characters that begin such tokens, and before a text that could
 * complete one. The mark is a private-use character that occurs in none of the inputs.
 */
import type { JsonValue } from "../core/message.ts";

export interface Guard {
  /** Not to be encoded. */
  readonly mark: string;
  /** Text of a message. */
  text(text: string): string;
  /** Tools, arguments and names: left as they are where nothing can go wrong, as templates look at them. */
  value(value: JsonValue): JsonValue;
}

export interface GuardTokens {
  readonly tokens: readonly string[];
  /** First characters, as a pattern. */
  readonly firsts: RegExp;
  /** What may complete a token that the template began, by first character. */
  readonly suffixes: ReadonlyMap<string, readonly string[]>;
}

/** @param controls texts of the added tokens */
export function prepareGuard(controls: Iterable<string>): GuardTokens {
  // Added tokens of white space do no harm, and templates trim.
  const tokens = [...controls].filter((token) => token.trimStart() === token);
  const firsts = [...new Set(tokens.map((token) => [...token][0] ?? ""))];
  const suffixes = new Map<string, string[]>();
  for (const token of tokens) {
    // A template begins tags, `<` or `<|`, not words: "name" is free although `<|repo_name|>` ends so.
    const opening = /^[^\p{L}\p{N}]+/u.exec(token)?.[0].length ?? 0;
    for (let i = 1; i <= Math.min(opening, token.length - 1); i++) {
      const first = token.charAt(i);
      const own = suffixes.get(first);
      if (own) own.push(token.slice(i));
      else suffixes.set(first, [token.slice(i)]);
    }
  }
  const pattern = firsts.map((first) => first.replaceAll(/[\\^\-\]]/g, "\\$&")).join("");
  return { tokens, firsts: pattern === "" ? /(?!)/g : new RegExp(`[${pattern}]`, "gu"), suffixes };
}

/** A private-use character that is not in `inputs`. */
function pickMark(inputs: string): string {
  for (let code = 0xe000; code <= 0xf8ff; code++) {
    const mark = String.fromCharCode(code);
    if (!inputs.includes(mark)) return mark;
  }
  throw new RangeError("The messages hold every private-use character.");
}

/** @param inputs everything that will be guarded, and the template */
export function createGuard({ tokens, firsts, suffixes }: GuardTokens, inputs: string): Guard {
  const mark = pickMark(inputs);

  const completes = (text: string): boolean =>
    (suffixes.get(text.charAt(0)) ?? []).some(
      (suffix) =>
        text.startsWith(suffix) ||
        (suffix.startsWith(text) && !/[\p{L}\p{N}]/u.test(suffix.slice(text.length))),
    );
  const marked = (text: string, begins: (at: number) => boolean): string => {
    const space = text.length - text.trimStart().length;
    const body = text.replace(firsts, (first, at: number) => (begins(at) ? first + mark : first));
    const core = text.trim();
    const leads = core !== "" && (completes(core) || completes(text));
    return leads ? body.slice(0, space) + mark + body.slice(space) : body;
  };
  const careful = (text: string): string =>
    marked(text, (at) => {
      const rest = text.slice(at);
      const open = rest.trimEnd();
      return tokens.some((token) => rest.startsWith(token) || token.startsWith(open));
    });
  const value = (item: JsonValue): JsonValue => {
    if (typeof item === "string") return careful(item);
    if (typeof item !== "object" || item === null) return item;
    if (Array.isArray(item)) return item.map(value);
    return Object.fromEntries(
      Object.entries(item).map(([key, inner]) => [careful(key), value(inner)]),
    );
  };
  return { mark, text: (text) => marked(text, () => true), value };
}
