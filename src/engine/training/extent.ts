/** How large a batch is, known without laying it out: segments of a kind are padded to the longest of them. */
import type { BatchLimits, BatchSize } from "./batch-limits.ts";

export interface Extent {
  readonly tokens: number;
  readonly prefixes: number;
  /** Tokens of the longest prefix. */
  readonly prefix: number;
  readonly suffixes: number;
  readonly suffix: number;
}

/** A prefix that rows share; none when it is empty. */
export function prefixOf(tokens: number): Extent {
  return { tokens, prefixes: tokens > 0 ? 1 : 0, prefix: tokens, suffixes: 0, suffix: 0 };
}

/** A row's own tokens after the shared prefix. */
export function suffixOf(tokens: number): Extent {
  return { tokens, prefixes: 0, prefix: 0, suffixes: 1, suffix: tokens };
}

export function together(a: Extent, b: Extent): Extent {
  return {
    tokens: a.tokens + b.tokens,
    prefixes: a.prefixes + b.prefixes,
    prefix: Math.max(a.prefix, b.prefix),
    suffixes: a.suffixes + b.suffixes,
    suffix: Math.max(a.suffix, b.suffix),
  };
}

export function sizeOf({ tokens, prefixes, prefix, suffixes, suffix }: Extent): BatchSize {
  const [ofPrefixes, ofSuffixes] = [prefixes * prefix, suffixes * (prefix + suffix)];
  return {
    tokens,
    scores: ofPrefixes * prefix + ofSuffixes * suffix,
    keys: ofPrefixes + ofSuffixes,
  };
}

/** Whether a batch may become `grown`, which must not exceed the limits more than `now` does. */
export function mayGrow(limits: BatchLimits, now: Extent, grown: Extent): boolean {
  const fit = limits.fit(sizeOf(grown));
  return fit !== "exceeded" && fit === limits.fit(sizeOf(now));
}
