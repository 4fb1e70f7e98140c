/**
 * Keys and values in blocks of 64 positions, each with all layers. Full blocks are shared by every sequence of the same
 * weights that begins with the same tokens; those that no sequence uses stay until their memory is needed, the least recently used go first.
 */
import type { ModelConfig } from "../model/model-config.ts";
import type { NativeMemory } from "../native/native.ts";
import type { Device } from "../tensor/device.ts";
import { keyBlock } from "../tensor/operations/attention.ts";
import { cacheLayerFloats } from "../tensor/operations/cached-attention.ts";
import { Tensor } from "../tensor/tensor.ts";

export interface Block {
  /** [1, floats]: the layers one after another. */
  readonly memory: Tensor;
  /** Sequences that use it. */
  uses: number;
  /** What it is found by once it is full: the block before it and its tokens. */
  place: { readonly siblings: Map<string, Block>; readonly key: string } | null;
  /** The blocks that follow it. */
  readonly following: Map<string, Block>;
  lastUse: number;
}

/** Blocks that are allocated together. */
const slabBytes = 32 * 2 ** 20;

export function layerFloatsOf({ kvHeads, headSize }: ModelConfig): number {
  return cacheLayerFloats({ keyHeads: kvHeads, headSize });
}

export class BlockCache {
  /** Of all blocks, used or not, and still to be allocated. */
  readonly capacity: number;
  readonly #device: Device;
  readonly #blockFloats: number;
  readonly #free: Tensor[] = [];
  readonly #slabs: NativeMemory[] = [];
  /** First blocks of sequences, by their weights. */
  #roots = new Map<object, Map<string, Block>>();
  /** Shared blocks that no sequence uses. */
  readonly #idle = new Set<Block>();
  #allocated = 0;
  #clock = 0;

  constructor(device: Device, config: ModelConfig, maxBytes: number) {
    this.#device = device;
    this.#blockFloats = config.layers * layerFloatsOf(config);
    this.capacity = Math.max(1, Math.floor(maxBytes / (4 * this.#blockFloats)));
  }

  get allocatedBytes(): number {
    return 4 * this.#blockFloats * this.#allocated;
  }

  /** Blocks that can be taken now. */
  get available(): number {
    return this.#free.length + this.#idle.size + this.capacity - this.#allocated;
  }

  /** An empty block; null where all are in use. @param force beyond the capacity, for a sequence that is alone */
  take(force = false): Block | null {
    const memory =
      this.#free.pop() ?? this.#allocate() ?? this.#evict() ?? (force ? this.#grow(1) : null);
    if (memory === null) return null;
    return { memory, uses: 1, place: null, following: new Map(), lastUse: 0 };
  }

  #allocate(): Tensor | null {
    const most = Math.max(1, Math.floor(slabBytes / (4 * this.#blockFloats)));
    const count = Math.min(most, this.capacity - this.#allocated);
    return count < 1 ? null : this.#grow(count);
  }

  #grow(count: number): Tensor {
    const memory = this.#device.allocate(4 * count * this.#blockFloats);
    const slab = new Tensor(memory, "f32", { rows: count, columns: this.#blockFloats });
    this.#slabs.push(memory);
    this.#allocated += count;
    for (let i = 1; i < count; i++) this.#free.push(slab.slice(i, 1));
    return slab.slice(0, 1);
  }

  /** The memory of the block that was not used for the longest time, and that no other one follows. */
  #evict(): Tensor | null {
    let oldest: Block | null = null;
    for (const block of this.#idle)
      if (block.following.size === 0 && (oldest === null || block.lastUse < oldest.lastUse))
        oldest = block;
    if (oldest === null) return null;
    this.#forget(oldest);
    return oldest.memory;
  }

  #forget(block: Block): void {
    this.#idle.delete(block);
    block.place?.siblings.delete(block.place.key);
    block.place = null;
  }

  #rootsOf(weights: object): Map<string, Block> {
    const found = this.#roots.get(weights) ?? new Map<string, Block>();
    this.#roots.set(weights, found);
    return found;
  }

  /** Uses the shared blocks of `weights` that `tokens` begin with, of the first `most` positions. */
  shared(weights: object, tokens: ArrayLike<number>, most: number): Block[] {
    const found: Block[] = [];
    let siblings = this.#rootsOf(weights);
    for (let start = 0; start + keyBlock <= most; start += keyBlock) {
      const block = siblings.get(blockKey(tokens, start));
      if (block === undefined) break;
      found.push(this.use(block));
      siblings = block.following;
    }
    return found;
  }

  /** The shared block of the tokens from `start` on, after `before`. */
  next(
    weights: object,
    before: Block | null,
    tokens: ArrayLike<number>,
    start: number,
  ): Block | null {
    if (before !== null && before.place === null) return null;
    const siblings = before === null ? this.#rootsOf(weights) : before.following;
    return siblings.get(blockKey(tokens, start)) ?? null;
  }

  use(block: Block): Block {
    block.uses += 1;
    block.lastUse = ++this.#clock;
    this.#idle.delete(block);
    return block;
  }

  /** Lets others find the full block that comes after `before`, unless there is one already. */
  share(
    weights: object,
    block: Block,
    before: Block | null,
    tokens: ArrayLike<number>,
    start: number,
  ): void {
    // One that cannot be found cannot lead to another.
    if (block.place !== null || (before !== null && before.place === null)) return;
    const siblings = before === null ? this.#rootsOf(weights) : before.following;
    const key = blockKey(tokens, start);
    if (siblings.has(key)) return;
    siblings.set(key, block);
    block.place = { siblings, key };
    block.lastUse = ++this.#clock;
  }

  /** One use less, from the last block on. */
  release(blocks: readonly Block[]): void {
    for (const block of blocks.toReversed()) {
      block.uses -= 1;
      if (block.uses > 0) continue;
      if (block.place === null) this.#free.push(block.memory);
      else this.#idle.add(block);
    }
  }

  /** A separate block with the same numbers. */
  copy(block: Block, force = false): Block | null {
    const own = this.take(force);
    own?.memory.data.set(block.memory.data);
    return own;
  }

  /** Gives all memory back, with what is shared in it. Nothing happens while a sequence uses a block. */
  giveBack(): void {
    if (this.#free.length + this.#idle.size < this.#allocated) return;
    this.clear();
    this.#free.length = 0;
    this.#allocated = 0;
    for (const slab of this.#slabs.splice(0)) this.#device.native.release(slab);
  }

  /** No block is found any longer: they were computed with other weights. */
  clear(): void {
    for (const block of this.#idle) this.#free.push(block.memory);
    this.#idle.clear();
    const forget = (siblings: Map<string, Block>): void => {
      for (const block of siblings.values()) {
        block.place = null;
        forget(block.following);
        block.following.clear();
      }
    };
    for (const roots of this.#roots.values()) forget(roots);
    this.#roots = new Map();
  }
}

/** What a block of the tokens from `start` on is found by. */
export function blockKey(tokens: ArrayLike<number>, start: number): string {
  return Array.prototype.slice.call(tokens, start, start + keyBlock).join();
}
