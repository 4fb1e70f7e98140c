/**
 * The layout of tokens when a batch is computed, and which attend to which: the inputs of
 * `segment-attention.ts`.
 */
import { maskedScore } from "../model/attention.ts";
import type { SegmentInput, SegmentKind } from "../model/segment-attention.ts";
import type { Tensor } from "../runtime.ts";

/** Consecutive tokens; each attends to those before it. */
export interface Segment {
  /** Place of its first token. */
  readonly start: number;
  readonly length: number;
  /** The prefix that all of its tokens attend to as well. */
  readonly prefix: Segment | null;
}

export type AttentionInput = SegmentInput | "suffix_prefixes";

const longest = (segments: readonly ({ length: number } | null)[]): number =>
  segments.reduce((most, segment) => Math.max(most, segment?.length ?? 0), 0);

/** One view's inputs; `before` is the length of the longest prefix that is attended to. */
function viewOf(
  segments: readonly Segment[],
  before: number,
  tokens: number,
): Readonly<Record<"tokens" | "places" | "mask", Tensor>> {
  const [b, s] = [Math.max(1, segments.length), Math.max(1, longest(segments))] as const;
  const t = before + s;
  const sources = new BigInt64Array(b * s).fill(BigInt(tokens));
  const targets = new BigInt64Array(tokens).fill(BigInt(b * s));
  const mask = new Float32Array(b * s * t).fill(maskedScore);
  for (const [n, { start, length }] of segments.entries()) {
    for (let i = 0; i < length; i++) {
      sources[n * s + i] = BigInt(start + i);
      targets[start + i] = BigInt(n * s + i);
    }
  }
  for (let row = 0; row < b * s; row++) {
    const prefix = segments[Math.floor(row / s)]?.prefix?.length ?? 0;
    mask.fill(0, row * t, row * t + prefix);
    // The result at padding is never read, but it must be finite.
    mask.fill(0, row * t + before, row * t + before + (row % s) + 1);
  }
  return {
    tokens: { data: sources, shape: [b * s] },
    places: { data: targets, shape: [tokens] },
    mask: { data: mask, shape: [b, 1, 1, s, t] },
  };
}

/** Every one of the batch's `tokens` is in exactly one segment. */
export function attentionInputs(
  { prefix, suffix }: Readonly<Record<SegmentKind, readonly Segment[]>>,
  tokens: number,
): Readonly<Record<AttentionInput, Tensor>> {
  // The graph requires a prefix, even if it is only padding.
  const prefixes = Math.max(1, prefix.length);
  const prefixOf = new Float32Array(suffix.length * prefixes);
  for (const [n, segment] of suffix.entries())
    if (segment.prefix !== null) prefixOf[n * prefixes + prefix.indexOf(segment.prefix)] = 1;
  const ofPrefixes = viewOf(prefix, 0, tokens);
  const ofSuffixes = viewOf(suffix, Math.max(1, longest(prefix)), tokens);
  return {
    prefix_tokens: ofPrefixes.tokens,
    prefix_places: ofPrefixes.places,
    prefix_mask: ofPrefixes.mask,
    suffix_tokens: ofSuffixes.tokens,
    suffix_places: ofSuffixes.places,
    suffix_mask: ofSuffixes.mask,
    suffix_prefixes: { data: prefixOf, shape: [suffix.length, prefixes] },
  };
}
