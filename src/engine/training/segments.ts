/**
 * Where tokens lie when a batch is computed, and who looks at whom: the inputs of `segment-attention.ts`.
 * Knows nothing of rows or losses.
 */
import { maskedScore } from "../model/attention.ts";
import type { SegmentInput, SegmentKind } from "../model/segment-attention.ts";
import type { Tensor } from "../runtime.ts";

/** Tokens one behind the other; each sees those before it. */
export interface Segment {
  /** Place of its first token. */
  readonly start: number;
  readonly length: number;
  /** What all of its tokens see as well. */
  readonly trunk: Segment | null;
}

export type AttentionInput = SegmentInput | "branch_trunks";

const longest = (segments: readonly ({ length: number } | null)[]): number =>
  segments.reduce((most, segment) => Math.max(most, segment?.length ?? 0), 0);

/** One view's inputs; `before` is the longest trunk that is looked at. */
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
    const trunk = segments[Math.floor(row / s)]?.trunk?.length ?? 0;
    mask.fill(0, row * t, row * t + trunk);
    // Nobody reads what padding sees, but it must be finite.
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
  { trunk, branch }: Readonly<Record<SegmentKind, readonly Segment[]>>,
  tokens: number,
): Readonly<Record<AttentionInput, Tensor>> {
  // The graph wants a trunk, if only one of padding.
  const trunks = Math.max(1, trunk.length);
  const trunkOf = new Float32Array(branch.length * trunks);
  for (const [n, segment] of branch.entries())
    if (segment.trunk !== null) trunkOf[n * trunks + trunk.indexOf(segment.trunk)] = 1;
  const ofTrunks = viewOf(trunk, 0, tokens);
  const ofBranches = viewOf(branch, Math.max(1, longest(trunk)), tokens);
  return {
    trunk_tokens: ofTrunks.tokens,
    trunk_places: ofTrunks.places,
    trunk_mask: ofTrunks.mask,
    branch_tokens: ofBranches.tokens,
    branch_places: ofBranches.places,
    branch_mask: ofBranches.mask,
    branch_trunks: { data: trunkOf, shape: [branch.length, trunks] },
  };
}
