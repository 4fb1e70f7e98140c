/** Attention in training: over the segments of a batch, some of which share a prefix. */
import type { Program } from "../program.ts";
import { scratchOf } from "../scratch.ts";
import { tensorOf, type Tensor } from "../tensor.ts";
import type { Device } from "../device.ts";
import { checkShape } from "./check-shape.ts";

/** How heads share keys, and which keys a token attends to. */
export interface HeadShape {
  readonly heads: number;
  /** `heads` is a multiple of it. */
  readonly keyHeads: number;
  readonly headSize: number;
  /** Factor of the scores. */
  readonly scale: number;
  /** A token attends to so many positions at most, itself included; null for all before it. */
  readonly window: number | null;
}

const maxHeadSize = 512;
/** Positions of a block of keys. */
export const keyBlock = 64;
const queryBlock = 48;

/** @throws RangeError */
export function checkHeads(shape: HeadShape, qkv: Tensor): void {
  const { heads, keyHeads, headSize, window } = shape;
  if (heads % keyHeads !== 0 || headSize > maxHeadSize || headSize < 1)
    throw new RangeError(`${heads} heads of ${headSize} cannot share ${keyHeads} key heads.`);
  if (window !== null && window < 1) throw new RangeError(`A window of ${window} has no token.`);
  checkShape("Queries, keys and values", qkv, qkv.rows, (heads + 2 * keyHeads) * headSize);
}

/** Consecutive tokens of a batch; each attends to those before it in the segment, and to its whole prefix. */
export interface AttentionSegment {
  readonly start: number;
  readonly length: number;
  /** Its place in the list: directly before its suffixes. Null for none. */
  readonly prefix: number | null;
}

/** Checked once, used by every layer. */
export interface AttentionLayout {
  readonly tokens: number;
  readonly count: number;
  /** [count][start, length, prefix or -1] */
  readonly table: Tensor<"i32">;
  /** Positions of the longest row, rounded up to a block. */
  readonly longest: number;
  /** Pairs of tokens that attend to each other, without windows: what it costs. */
  readonly pairs: number;
}

/** @throws RangeError where a token is in no segment or in two, or a prefix is not directly before its suffixes */
export function layOutSegments(
  device: Device,
  segments: readonly AttentionSegment[],
): AttentionLayout {
  let [tokens, longest, pairs] = [0, 1, 0];
  let family = -1;
  for (const [s, { start, length, prefix }] of segments.entries()) {
    if (start !== tokens || length < 1)
      throw new RangeError(
        `Segment ${s} begins at ${start} with ${length} tokens, not at ${tokens}.`,
      );
    if (prefix === null) family = s;
    else if (prefix !== family)
      throw new RangeError(`The prefix of segment ${s} is not before it.`);
    const before = prefix === null ? 0 : segments[prefix]!.length;
    tokens += length;
    longest = Math.max(longest, before + length);
    pairs += length * (before + (length + 1) / 2);
  }
  const values = segments.flatMap(({ start, length, prefix }) => [start, length, prefix ?? -1]);
  return {
    tokens,
    count: segments.length,
    table: tensorOf(device, values.length === 0 ? [0] : values, "i32"),
    longest: Math.ceil(longest / keyBlock) * keyBlock,
    pairs,
  };
}

/** mixed [tokens, heads * headSize] from qkv [tokens, (heads + 2 keyHeads) * headSize]. */
export function attend(
  program: Program,
  qkv: Tensor,
  mixed: Tensor,
  shape: HeadShape,
  layout: AttentionLayout,
): void {
  checkShape("The result", mixed, qkv.rows, shape.heads * shape.headSize);
  program.add("attend", ...common(program, qkv, shape, layout), mixed, mixed.stride, layout.pairs);
}

/** gradient, as qkv, from dMixed [tokens, heads * headSize]. */
export function attendBackward(
  program: Program,
  qkv: Tensor,
  dMixed: Tensor,
  gradient: Tensor,
  shape: HeadShape,
  layout: AttentionLayout,
): void {
  checkShape("The result's gradient", dMixed, qkv.rows, shape.heads * shape.headSize);
  checkShape("The gradient", gradient, qkv.rows, qkv.columns);
  if (gradient.stride !== qkv.stride)
    throw new RangeError(
      "The gradient's rows are as far apart as those of queries, keys and values.",
    );
  const values = common(program, qkv, shape, layout);
  program.add("attend_backward", ...values, dMixed, dMixed.stride, gradient, layout.pairs);
}

function common(program: Program, qkv: Tensor, shape: HeadShape, layout: AttentionLayout) {
  checkHeads(shape, qkv);
  if (layout.tokens !== qkv.rows)
    throw new RangeError(`${layout.tokens} tokens are laid out, and there are ${qkv.rows}.`);
  const { heads, keyHeads, headSize, scale, window } = shape;
  const width = Math.ceil(headSize / 16) * 16;
  // As `room_of` in native/kernels/training_attention.c.
  const floats = layout.longest * (6 * width + 2 * queryBlock);
  return [
    layout.count,
    layout.table,
    heads,
    keyHeads,
    headSize,
    qkv,
    qkv.stride,
    scale,
    window ?? 0,
    layout.longest,
    scratchOf(program.device, "attention", program.device.threads * floats),
    floats,
  ] as const;
}
