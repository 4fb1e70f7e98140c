/** Regular expressions with a bound on their work: RE2's engine, whose time is linear in the text. */
import { RE2JS } from "re2js";
import { AgentTrainerError, ConfigError } from "../core/errors.ts";

/** What a pattern found; groups from 1 on are those of the pattern, null where they matched nothing. */
export type PatternMatch = readonly (string | null)[];

interface PlacedMatch {
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

/** Reads per character of the text, over all of its matches. Patterns for answers need fewer than 10. */
const readsPerChar = 100;

/**
 * A text that counts what is read of it. One search is linear, but a search for all matches may read
 * to the end of the text after each of them, as `a.*b|a` does in a text of `a`.
 */
class MeteredText extends String {
  readonly #text: string;
  #left: number;

  constructor(text: string) {
    super(text);
    this.#text = text;
    this.#left = readsPerChar * (text.length + 100);
  }

  override charCodeAt(index: number): number {
    if (--this.#left < 0) throw new PatternWorkError();
    return this.#text.charCodeAt(index);
  }

  override indexOf(part: string, from?: number): number {
    const at = this.#text.indexOf(part, from);
    this.#left -= ((at === -1 ? this.#text.length : at) - (from ?? 0)) / nativeSpeed;
    return at;
  }
}

/** How much faster JavaScript's own search is than a step of the pattern. */
const nativeSpeed = 64;

/** All matches of a pattern in this text would take more than linear time. */
export class PatternWorkError extends AgentTrainerError {
  override readonly name = "PatternWorkError";
  constructor() {
    super({
      code: "EVALUATOR_FAILED",
      message: "the pattern reads far beyond each of its matches in this text",
      hint: "Write .*? or [^\\n]* instead of .* before the end of the pattern.",
    });
  }
}

/** @yields after each match, with its groups not read yet. @throws PatternWorkError */
function* searches(compiled: RE2JS, text: string): Generator<Matcher> {
  const matcher = compiled.matcher(new MeteredText(text) as unknown as string);
  while (matcher.find()) yield matcher;
}

function fromCompiled(compiled: RE2JS): LinearPattern {
  return {
    find(text) {
      const matcher = compiled.matcher(text);
      return matcher.find() ? groupsOf(matcher) : null;
    },
    findLast(text) {
      let start = -1;
      for (const matcher of searches(compiled, text)) start = matcher.start();
      if (start === -1) return null;
      const last = compiled.matcher(text);
      last.find(start);
      return groupsOf(last);
    },
    all: (text) =>
      Array.from(searches(compiled, text), (matcher) => ({
        groups: groupsOf(matcher),
        index: matcher.start(),
      })),
    full(text) {
      const matcher = compiled.matcher(text);
      return matcher.matches() ? groupsOf(matcher) : null;
    },
  };
}
