/**
 * Keeps what looks like a control token inside a message from becoming one in a template's output: an
 * invisible mark is inserted after the characters that start such tokens, and before a text that could
 * complete one. The mark is a private-use character that occurs in none of the inputs.
 */
import { AgentTrainerError } from "../../../core/errors.ts";
import type { JsonValue } from "../../../core/message.ts";
import { addTo } from "../../../util/group-by.ts";

export interface Guard {
  /** Not to be encoded. */
  readonly mark: string;
  /** Text of a message. */
  text(text: string): string;
  /** Tools, arguments and names: unchanged where they are harmless, as templates inspect them. */
  value(value: JsonValue): JsonValue;
}

/** Texts by their characters (a trie), so that comparing with all of them costs the length of one. */
interface Trie {
  readonly next: Map<string, Trie>;
  isEnd: boolean;
}

export interface GuardTokens {
  readonly tokens: Trie;
  /** First characters, as a pattern. */
  readonly firsts: RegExp;
  /** What may complete a token that the template started, by first character. */
  readonly suffixes: ReadonlyMap<string, readonly string[]>;
}

/** @param controls texts of the added tokens */
export function prepareGuard(controls: Iterable<string>): GuardTokens {
  // Added tokens of whitespace are harmless, and templates trim.
  const tokens = [...controls].filter((token) => token.trimStart() === token);
  const firsts = [...new Set(tokens.map((token) => [...token][0] ?? ""))];
  const suffixes = new Map<string, string[]>();
  for (const token of tokens) {
    // A template begins tags, `<` or `<|`, not words: "name" is free although `<|repo_name|>` ends so.
    const opening = /^[^\p{L}\p{N}]+/u.exec(token)?.[0].length ?? 0;
    for (let i = 1; i <= Math.min(opening, token.length - 1); i++) {
      addTo(suffixes, token.charAt(i), token.slice(i));
    }
  }
  const pattern = firsts.map((first) => first.replaceAll(/[\\^\-\]]/g, "\\$&")).join("");
  return {
    tokens: createTrie(tokens),
    firsts: pattern === "" ? /(?!)/g : new RegExp(`[${pattern}]`, "gu"),
    suffixes,
  };
}

function createTrie(texts: readonly string[]): Trie {
  const root: Trie = { next: new Map(), isEnd: false };
  for (const text of texts) {
    let node = root;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charAt(i);
      let inner = node.next.get(unit);
      if (inner === undefined) {
        inner = { next: new Map(), isEnd: false };
        node.next.set(unit, inner);
      }
      node = inner;
    }
    node.isEnd = true;
  }
  return root;
}

/**
 * Whether a token is at `at`, or starts there and is cut off at `end`, after which there is only
 * whitespace.
 */
function beginsToken(trie: Trie, text: string, at: number, end: number): boolean {
  let node: Trie | undefined = trie;
  for (let i = at; ; i++) {
    if (node.isEnd || i === end) return true;
    node = node.next.get(text.charAt(i));
    if (node === undefined) return false;
  }
}

const [firstPrivate, lastPrivate] = [0xe000, 0xf8ff];

/** A private-use character that is not in `inputs`. */
function pickMark(inputs: readonly string[]): string {
  const isUsed = new Uint8Array(lastPrivate - firstPrivate + 1);
  for (const input of inputs) {
    for (let i = 0; i < input.length; i++) {
      const code = input.charCodeAt(i);
      if (code >= firstPrivate && code <= lastPrivate) isUsed[code - firstPrivate] = 1;
    }
  }
  const free = isUsed.indexOf(0);
  if (free >= 0) return String.fromCharCode(firstPrivate + free);
  throw new AgentTrainerError({
    code: "REQUEST_INVALID",
    message: "The messages hold every private-use character of Unicode, so none can mark text.",
    hint: "Leave some out.",
  });
}

/** Deeper values would overflow the stack of any code that traverses them. */
const deepest = 256;

/** @param inputs everything that will be guarded, and the template */
export function createGuard(
  { tokens, firsts, suffixes }: GuardTokens,
  inputs: readonly string[],
): Guard {
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
  const careful = (text: string): string => {
    const end = text.trimEnd().length;
    return marked(text, (at) => beginsToken(tokens, text, at, end));
  };
  const value = (item: JsonValue, depth = 0): JsonValue => {
    if (typeof item === "string") return careful(item);
    if (typeof item !== "object" || item === null) return item;
    if (depth === deepest) {
      throw new AgentTrainerError({
        code: "REQUEST_INVALID",
        message: `A tool or the arguments of a tool call are nested more than ${deepest} levels deep.`,
      });
    }
    if (Array.isArray(item)) return item.map((inner) => value(inner, depth + 1));
    return Object.fromEntries(
      Object.entries(item).map(([key, inner]) => [careful(key), value(inner, depth + 1)]),
    );
  };
  return { mark, text: (text) => marked(text, () => true), value: (item) => value(item) };
}
