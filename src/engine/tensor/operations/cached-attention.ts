/** Keys and values in blocks of 64 positions of a sequence, and attention to them. */
import type { Program } from "../program.ts";
import { scratchOf } from "../scratch.ts";
import type { Tensor } from "../tensor.ts";
import { checkHeads, keyBlock, type HeadShape } from "./attention.ts";
import { checkIndices, checkShape } from "./check-shape.ts";

const tileRows = 6;

/** Floats of one layer in a block. */
export function cacheLayerFloats({
  keyHeads,
  headSize,
}: Pick<HeadShape, "keyHeads" | "headSize">): number {
  return keyHeads * keyBlock * (headSize + Math.ceil(headSize / 16) * 16);
}

/**
 * Where the tokens of a batch are kept. Addresses are of whole blocks that the caller keeps alive; they are the only
 * thing that is not checked here.
 */
export interface CachePlaces {
  /** [1, tokens]: the block that each token is written to. */
  readonly blocks: Tensor<"f64">;
  /** [1, tokens]: its place there. */
  readonly slots: Tensor<"i32">;
  /** [sequences, most blocks]: the blocks of each sequence, in order. */
  readonly table: Tensor<"f64">;
  /** [1, tokens] */
  readonly sequences: Tensor<"i32">;
  /** [1, tokens]: each token's position in its sequence. */
  readonly positions: Tensor<"i32">;
  /** Of all positions + 1: what attention costs. */
  readonly positionSum: number;
}

/** Writes each token's key and value to its place. `layerOffset`: floats from the start of a block to the layer. */
export function writeCache(
  program: Program,
  qkv: Tensor,
  places: CachePlaces,
  shape: HeadShape,
  layerOffset: number,
): void {
  checkHeads(shape, qkv);
  checkShape("The blocks", places.blocks, 1, qkv.rows);
  checkIndices("The places", places.slots, qkv.rows, keyBlock);
  const { heads, keyHeads, headSize } = shape;
  program.add(
    "write_cache",
    qkv.rows,
    heads,
    keyHeads,
    headSize,
    layerOffset,
    qkv,
    qkv.stride,
    places.blocks,
    places.slots,
  );
}

/** mixed [tokens, heads * headSize]: each token attends to positions 0 to its own, which are in the cache. */
export function attendCached(
  program: Program,
  qkv: Tensor,
  mixed: Tensor,
  places: CachePlaces,
  shape: HeadShape,
  layerOffset: number,
): void {
  checkHeads(shape, qkv);
  const { table, sequences, positions } = places;
  checkShape("The result", mixed, qkv.rows, shape.heads * shape.headSize);
  checkIndices("The sequences", sequences, qkv.rows, table.rows);
  checkIndices("The positions", positions, qkv.rows, table.columns * keyBlock);
  const { heads, keyHeads, headSize, scale, window } = shape;
  const floats = tileRows * table.columns * keyBlock;
  program.add(
    "attend_cached",
    qkv.rows,
    heads,
    keyHeads,
    headSize,
    layerOffset,
    qkv,
    qkv.stride,
    table,
    table.stride,
    positions,
    sequences,
    mixed,
    mixed.stride,
    scale,
    window ?? 0,
    scratchOf(program.device, "cached attention", program.device.threads * floats),
    floats,
    places.positionSum,
  );
}
