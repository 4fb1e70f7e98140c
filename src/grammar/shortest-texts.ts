/**
 * How many tokens the rest of a text takes at least, by a bound that a sampler can follow: the fewest tokens that make
 * the shortest text to an end.
 */
import type { Configuration, Configurations } from "./configurations.ts";
import type { TokenTrie } from "./token-trie.ts";
import { GrammarLimitError } from "./work-budget.ts";

/** A longer text takes a token for each symbol, as far as is known here. */
const maxSymbols = 8192;

/** Bytes of a token beyond which it is not looked for. */
const longestToken = 256;

/** Symbols below it are bytes; others are whole tokens. */
const bytes = 256;

export class ShortestTexts {
  readonly #configurations: Configurations;
  readonly #trie: TokenTrie;
  /** By the id of a configuration. */
  readonly #tokens = new Map<number, number>();

  constructor(configurations: Configurations, trie: TokenTrie) {
    this.#configurations = configurations;
    this.#trie = trie;
  }

  /**
   * Tokens after which the text can end. After the first of them it is one fewer: the shortest text from there is the
   * rest of this one.
   */
  tokens(from: Configuration): number {
    const known = this.#tokens.get(from.id);
    if (known !== undefined) return known;
    if (from.distance === 0 || from.distance > maxSymbols) return from.distance;
    const found = this.#path(from);
    if (found === null) {
      this.#tokens.set(from.id, from.distance);
      return from.distance;
    }
    const { path, symbols } = found;
    const least = new Float64Array(path.length);
    for (let i = symbols.length - 1; i >= 0; i--) {
      const own = this.#tokens.get(path[i]!.id);
      least[i] = own ?? this.#fewest(symbols, i, least);
      this.#tokens.set(path[i]!.id, least[i]!);
    }
    return least[0]!;
  }

  /** The same for a text that begins with `symbol`, which leads to `next`. */
  tokensVia(symbol: number, next: Configuration): number {
    const found = this.#path(next, longestToken);
    if (found === null) return 1 + next.distance;
    const rest = found.path.map((at) => this.tokens(at));
    return this.#fewest([symbol, ...found.symbols], 0, Float64Array.of(Infinity, ...rest));
  }

  /** The shortest text, up to `most` symbols, and where it leads; null where that leaves too much open. */
  #path(from: Configuration, most = Infinity): { path: Configuration[]; symbols: number[] } | null {
    const path = [from];
    const symbols: number[] = [];
    try {
      for (let at = from; at.distance > 0 && symbols.length < most;) {
        const symbol = this.#configurations.nearest(at);
        at = this.#configurations.step(at, symbol)!;
        symbols.push(symbol);
        path.push(at);
      }
    } catch (error) {
      if (error instanceof GrammarLimitError) return null;
      throw error;
    }
    return { path, symbols };
  }

  /** The fewest tokens for `symbols` from `start`, by those for what follows. */
  #fewest(symbols: readonly number[], start: number, least: Float64Array): number {
    if (symbols[start]! >= bytes) return 1 + least[start + 1]!;
    const { nodes, byte, after, tokensFrom } = this.#trie;
    let best = Infinity;
    let [node, end] = [0, nodes];
    for (let i = start; i < symbols.length; i++) {
      while (node < end && byte[node] !== symbols[i]) node = after[node]!;
      if (node >= end) break;
      if (tokensFrom[node]! < tokensFrom[node + 1]!) best = Math.min(best, 1 + least[i + 1]!);
      // Its children follow it.
      end = after[node]!;
      node++;
    }
    // Without a token for its first byte the text cannot be written: one for it excludes nothing more.
    return best === Infinity ? 1 + least[start + 1]! : best;
  }
}
