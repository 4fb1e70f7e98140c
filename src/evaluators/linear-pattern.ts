/** Regular expressions with a bound on their work: RE2's engine, whose time is linear in the text. */
import { RE2JS } from "re2js";
import { ConfigError } from "../core/errors.ts";

/** What a pattern found; groups from 1 on are those of the pattern, null where they matched nothing. */
export type PatternMatch = readonly (string | null)[];

export interface PlacedMatch {
  readonly groups: PatternMatch;
  readonly index: number;
}

/** A pattern of which the time is linear in the length of the text. */
export interface LinearPattern {
  /** The first match, or null. */
  find(text: string): PatternMatch | null;
  /** The last of the matches that do not overlap, or null. */
  findLast(text: string): PatternMatch | null;
  /** All matches that do not overlap, with where they start. */
  all(text: string): readonly PlacedMatch[];
  /** The match of the whole text, or null. */
  full(text: string): PatternMatch | null;
}

const flagValues: Readonly<Record<string, number>> = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
  // Always on in RE2 or without meaning for a test.
  u: 0,
  v: 0,
  g: 0,
};

/**
 * Compiles a pattern.
 * @throws ConfigError for lookaround, back-references, and whatever else RE2 does not have.
 */
export function linearPattern(pattern: string | RegExp, flags = ""): LinearPattern {
  const source = typeof pattern === "string" ? pattern : pattern.source;
  const letters = [...(typeof pattern === "string" ? flags : pattern.flags)];
  const unknown = letters.find((letter) => flagValues[letter] === undefined);
  if (unknown !== undefined) {
    throw new ConfigError({
      message: `The pattern ${note(source)} has the flag "${unknown}", which is not supported.`,
      hint: "Use the flags i, m and s.",
      fields: { pattern: source, flag: unknown },
    });
  }
  const bits = letters.reduce((sum, letter) => sum | (flagValues[letter] ?? 0), 0);
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(RE2JS.translateRegExp(source), bits);
  } catch (error) {
    throw new ConfigError({
      message: `The pattern ${note(source)} is not supported: ${(error as Error).message}.`,
      hint: "Use RE2's syntax: without lookaround and back-references.",
      cause: error,
      fields: { pattern: source },
    });
  }
  return fromCompiled(compiled);
}

const note = (source: string): string => JSON.stringify(source.slice(0, 200));

type Matcher = ReturnType<RE2JS["matcher"]>;

const groupsOf = (matcher: Matcher): PatternMatch =>
  Array.from({ length: matcher.groupCount() + 1 }, (_, index) => matcher.group(index) ?? null);

function fromCompiled(compiled: RE2JS): LinearPattern {
  return {
    find(text) {
      const matcher = compiled.matcher(text);
      return matcher.find() ? groupsOf(matcher) : null;
    },
    findLast(text) {
      const matcher = compiled.matcher(text);
      let last: PatternMatch | null = null;
      while (matcher.find()) last = groupsOf(matcher);
      return last;
    },
    all(text) {
      const matcher = compiled.matcher(text);
      const found: PlacedMatch[] = [];
      while (matcher.find()) found.push({ groups: groupsOf(matcher), index: matcher.start() });
      return found;
    },
    full(text) {
      const matcher = compiled.matcher(text);
      return matcher.matches() ? groupsOf(matcher) : null;
    },
  };
}
