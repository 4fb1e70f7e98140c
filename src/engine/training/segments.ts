/**
 * Where tokens lie when a batch is computed, and who looks at whom: the inputs of `segment-attention.ts`.
 * Knows nothing of rows or losses.
 */
import { maskedScore } from "../model/attention.ts";
import { segmentKinds } from "../model/segment-attention.ts";
import type { SegmentInput, SegmentKind } from "../model/segment-attention.ts";
import type { Tensor } from "../runtime.ts";

/** Tokens one behind the other; each sees those before it. */
export interface Segment {
  /** Place of its first token. */
  readonly start: number;
  readonly length: number;
  /** What all of its tokens see as well. */
  readonly trunk: Omit<Segment, "trunk"> | null;
}

export type AttentionInput = SegmentInput | "places";

const longest = (segments: readonly ({ length: number } | null)[]): number =>
  segments.reduce((most, segment) => Math.max(most, segment?.length ?? 0), 0);

interface View {
  readonly queries: BigInt64Array;
  readonly keys: BigInt64Array;
  readonly mask: Float32Array;
  /** [b, s, t] */
  readonly sizes: readonly [number, number, number];
}

/** Padding stands for token 0 of the batch: nobody sees it, and what it sees is read by nobody. */
function viewOf(segments: readonly Segment[]): View {
  const before = longest(segments.map(({ trunk }) => trunk));
  const sizes = [segments.length, longest(segments), before + longest(segments)] as const;
  const [b, s, t] = sizes;
  const queries = new BigInt64Array(b * s);
  const keys = new BigInt64Array(b * t);
  const mask = new Float32Array(b * s * t).fill(maskedScore);
  for (const [n, { start, length, trunk }] of segments.entries()) {
    for (let j = 0; j < (trunk?.length ?? 0); j++) keys[n * t + j] = BigInt(trunk!.start + j);
    for (let i = 0; i < length; i++) {
      queries[n * s + i] = BigInt(start + i);
      keys[n * t + before + i] = BigInt(start + i);
    }
    for (let i = 0; i < s; i++) {
      const line = (n * s + i) * t;
      mask.fill(0, line, line + (trunk?.length ?? 0));
      mask.fill(0, line + before, line + before + i + 1);
    }
  }
  return { queries, keys, mask, sizes };
}

/** A graph wants some segment of each kind. */
const nothing: Segment = { start: 0, length: 1, trunk: null };

/** Every one of the batch's `tokens` is in exactly one segment. */
export function attentionInputs(
  segments: Readonly<Record<SegmentKind, readonly Segment[]>>,
  tokens: number,
): Readonly<Record<AttentionInput, Tensor>> {
  const inputs: Partial<Record<AttentionInput, Tensor>> = {};
  const places = new BigInt64Array(tokens);
  let behind = 0;
  for (const kind of segmentKinds) {
    const some = segments[kind];
    const { queries, keys, mask, sizes } = viewOf(some.length === 0 ? [nothing] : some);
    const [b, s, t] = sizes;
    inputs[`${kind}_queries`] = { data: queries, shape: [b * s] };
    inputs[`${kind}_keys`] = { data: keys, shape: [b * t] };
    inputs[`${kind}_mask`] = { data: mask, shape: [b, 1, 1, s, t] };
    for (const [n, { start, length }] of some.entries())
      for (let i = 0; i < length; i++) places[start + i] = BigInt(behind + n * s + i);
    behind += b * s;
  }
  return { ...inputs, places: { data: places, shape: [tokens] } } as Record<AttentionInput, Tensor>;
}
