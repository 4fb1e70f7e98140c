/**
 * Which tokens may follow: a bit for each token of the vocabulary, found by walking a trie of all tokens
 * through the grammar, and kept for each configuration. Masks are a function of the grammar, the vocabulary
 * and what was sampled alone, so training finds the same ones.
 */
import type { Grammar } from "../core/grammar.ts";
import type { Vocabulary } from "../core/vocabulary.ts";
import { compileGrammar, firstTag, type SchemaSource } from "./compile-grammar.ts";
import { Configurations, type Configuration } from "./configurations.ts";
import { ShortestTexts } from "./shortest-texts.ts";
import { buildTrie, type TokenTrie } from "./token-trie.ts";
import { GrammarLimitError } from "./work-budget.ts";

export interface TokenMask {
  /** Bit v % 32 of entry v / 32 is token v. */
  readonly bits: Uint32Array;
  readonly count: number;
  /** The first allowed token; -1 for none. */
  readonly first: number;
  /** After any of these tokens, the text can end with so many further symbols at most: no fewer than tokens. */
  readonly farthest: number;
}

export const isAllowed = ({ bits }: TokenMask, token: number): boolean =>
  ((bits[token >>> 5]! >>> (token & 31)) & 1) === 1;

/** Configurations of one grammar above which they are forgotten: texts without end have ever new ones. */
const maxConfigurations = 20_000;

/** States of the grammar that may be visited for one mask: some for each node of the trie, and more for a start. */
const workPerNode = 4;
const leastWork = 500_000;

/** Of the masks that are kept. */
const maxMaskBytes = 64 * 2 ** 20;

export interface MaskLimits {
  readonly stopTokenIds: readonly number[];
  /** Length of the completion at most; masks leave room for the grammar's end where there is any. */
  readonly maxTokens: number;
}

/** A grammar for one vocabulary. */
export class TokenGrammar {
  readonly vocabulary: Vocabulary;
  readonly trie: TokenTrie;
  readonly #configurations: Configurations;
  #shortest: ShortestTexts;
  readonly #tagTokens: readonly number[];
  readonly #tagSymbols: ReadonlyMap<number, number>;
  readonly #masks = new Map<string, TokenMask>();
  /** Counts how often everything was forgotten, so that matchers find their places again. */
  generation = 0;

  /** @throws GrammarError, GrammarLimitError */
  constructor(
    grammar: Grammar,
    vocabulary: Vocabulary,
    trie: TokenTrie = buildTrie(vocabulary),
    schemas?: SchemaSource,
  ) {
    this.vocabulary = vocabulary;
    this.trie = trie;
    const { added } = vocabulary;
    const compiled = compileGrammar(grammar, (text) => added.has(text), schemas);
    this.#configurations = new Configurations(compiled);
    this.#shortest = new ShortestTexts(this.#configurations, trie);
    this.#tagTokens = compiled.tags.map((tag) => added.get(tag)!);
    this.#tagSymbols = new Map(this.#tagTokens.map((token, i) => [token, firstTag + i]));
  }

  get start(): Configuration {
    return this.#configurations.start;
  }

  /** Forgets everything where it has become too much. */
  tidy(): void {
    const maskBytes = (this.#masks.size * this.vocabulary.size) / 8;
    if (this.#configurations.all.length <= maxConfigurations && maskBytes <= maxMaskBytes) return;
    this.#configurations.reset();
    this.#shortest = new ShortestTexts(this.#configurations, this.trie);
    this.#masks.clear();
    this.generation++;
  }

  /** Null where the grammar does not allow it. */
  step(from: Configuration, token: number): Configuration | null {
    const symbol = this.#tagSymbols.get(token);
    if (symbol !== undefined) return this.#configurations.step(from, symbol);
    const { bytes, offsets } = this.vocabulary;
    const end = offsets[token + 1]!;
    if (token >= this.vocabulary.size || end === offsets[token]) return null;
    let at: Configuration | null = from;
    for (let i = offsets[token]!; i < end && at !== null; i++)
      at = this.#configurations.step(at, bytes[i]!);
    return at;
  }

  /**
   * What some text that may begin at `from` needs at least, in tokens, where `room` tokens are too few for it: all that
   * the limit excludes there fits with so many. Null where nothing is excluded.
   * @param room tokens that the text may have
   */
  needed(from: Configuration, room: number): number | null {
    let most = 0;
    for (let symbol = 0; symbol < firstTag + this.#tagTokens.length; symbol++) {
      const next = this.#configurations.step(from, symbol);
      if (next === null || next.distance < room) continue;
      most = Math.max(most, this.#shortest.tokensVia(symbol, next));
    }
    return most > room ? most : null;
  }

  /** @param room tokens that the text may still need after this one; Infinity for any */
  mask(from: Configuration, stops: readonly number[], room: number): TokenMask {
    const key = `${from.id}/${stops.join()}`;
    let mask = this.#masks.get(key);
    if (mask === undefined) {
      mask = this.#find(from, stops, Infinity);
      this.#masks.set(key, mask);
    }
    // A limit that is too small for any text of the grammar cuts it off wherever it is.
    if (mask.farthest <= room || this.#shortest.tokens(from) > room + 1) return mask;
    return this.#find(from, stops, room);
  }

  /** Whether the text can end within `room` further tokens. */
  #fits(next: Configuration, room: number): boolean {
    return next.distance <= room || this.#shortest.tokens(next) <= room;
  }

  #find(from: Configuration, stops: readonly number[], room: number): TokenMask {
    const configurations = this.#configurations;
    const { size } = this.vocabulary;
    const { nodes, byte, depth, after, tokensFrom, tokens } = this.trie;
    const bits = new Uint32Array(Math.ceil(size / 32));
    let count = 0;
    let first = -1;
    let farthest = 0;
    const allow = (token: number): void => {
      const bit = 2 ** (token & 31);
      if ((bits[token >>> 5]! & bit) !== 0) return;
      bits[token >>> 5] = (bits[token >>> 5]! | bit) >>> 0;
      count++;
      if (first === -1 || token < first) first = token;
    };
    const path: Configuration[] = [from];
    const limit = leastWork + workPerNode * nodes;
    let work = 0;
    for (let node = 0; node < nodes;) {
      const d = depth[node]!;
      const next = configurations.step(path[d - 1]!, byte[node]!);
      if (next === null) {
        node = after[node]!;
        continue;
      }
      path[d] = next;
      // Of this place alone, whatever was found before: sampling and training stop at the same one.
      work += next.frames.length;
      if (work > limit)
        throw new GrammarLimitError(
          `its alternatives leave more than ${limit.toLocaleString("en")} states open within one token`,
        );
      const end = tokensFrom[node + 1]!;
      if (tokensFrom[node]! < end && this.#fits(next, room)) {
        farthest = Math.max(farthest, next.distance);
        for (let t = tokensFrom[node]!; t < end; t++) allow(tokens[t]!);
      }
      node++;
    }
    for (const [i, token] of this.#tagTokens.entries()) {
      const next = configurations.step(from, firstTag + i);
      if (next === null || !this.#fits(next, room)) continue;
      farthest = Math.max(farthest, next.distance);
      allow(token);
    }
    if (from.accepts) for (const token of stops) if (token < size) allow(token);
    return { bits, count, first, farthest };
  }
}

/** The place of one completion in its grammar. */
export class TokenMatcher {
  readonly #grammar: TokenGrammar;
  readonly #limits: MaskLimits;
  readonly #tokens: number[] = [];
  #generation: number;
  #at: Configuration | null;

  constructor(grammar: TokenGrammar, limits: MaskLimits) {
    this.#grammar = grammar;
    this.#limits = limits;
    this.#generation = grammar.generation;
    this.#at = grammar.start;
  }

  /** What may come next; null where anything may, because the text has left the grammar. */
  mask(): TokenMask | null {
    this.#grammar.tidy();
    const at = this.#place();
    if (at === null) return null;
    const { stopTokenIds, maxTokens } = this.#limits;
    // One token now, and one that ends the completion.
    const room = maxTokens - this.#tokens.length - 2;
    return this.#grammar.mask(at, stopTokenIds, room);
  }

  /** The least `maxTokens` at which nothing that may begin here is excluded; null where it is enough. */
  get neededTokens(): number | null {
    const at = this.#place();
    const room = this.#limits.maxTokens - this.#tokens.length - 1;
    const needed = at === null ? null : this.#grammar.needed(at, room);
    return needed === null ? null : this.#tokens.length + needed + 1;
  }

  accept(token: number): void {
    const at = this.#place();
    this.#tokens.push(token);
    this.#at = at === null ? null : this.#grammar.step(at, token);
  }

  #place(): Configuration | null {
    if (this.#generation === this.#grammar.generation) return this.#at;
    this.#generation = this.#grammar.generation;
    let at: Configuration | null = this.#grammar.start;
    for (const token of this.#tokens) at = at === null ? null : this.#grammar.step(at, token);
    this.#at = at;
    return at;
  }
}
