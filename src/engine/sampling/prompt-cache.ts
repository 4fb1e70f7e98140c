/** Gathers a prompt's blocks into the cache that a run of the graph reads. */
import type { ModelConfig } from "../model/model-config.ts";
import { blockTokens, pathTo, type PrefixNode } from "./prefix-tree.ts";
import type { LayeredCache } from "./sampling-session.ts";

/**
 * Copies the keys and values of `node` and its ancestors, from block `firstDepth` on, into slot `b` of a
 * cache [B, K, T, D].
 */
export function writePath(
  node: PrefixNode | null,
  cache: LayeredCache,
  b: number,
  cachedTokens: number,
  config: ModelConfig,
  firstDepth = 0,
): void {
  const { kvHeads, headSize } = config;
  for (const block of pathTo(node).slice(firstDepth)) {
    const width = block.tokens.length * headSize;
    for (let layer = 0; layer < config.layers; layer++) {
      for (let k = 0; k < kvHeads; k++) {
        const target = ((b * kvHeads + k) * cachedTokens + block.depth * blockTokens) * headSize;
        cache.keys[layer]!.set(block.keys[layer]!.subarray(k * width, (k + 1) * width), target);
        cache.values[layer]!.set(block.values[layer]!.subarray(k * width, (k + 1) * width), target);
      }
    }
  }
}

/**
 * A cache that is refilled for every run, in the same memory, since allocating costs as much as
 * writing. Places after a path keep what an earlier run left there.
 */
export class ScratchCache {
  readonly #config: ModelConfig;
  #cache: LayeredCache = { keys: [], values: [] };
  #cachedTokens = 0;
  /** Whose path is in each slot. */
  #nodes: (PrefixNode | null)[] = [];

  constructor(config: ModelConfig) {
    this.#config = config;
  }

  /** The paths to `nodes`, one after the other, each in `cachedTokens` places. */
  gather(nodes: readonly (PrefixNode | null)[], cachedTokens: number): LayeredCache {
    const { layers, kvHeads, headSize } = this.#config;
    const size = nodes.length * kvHeads * cachedTokens * headSize;
    if ((this.#cache.keys[0]?.length ?? 0) < size) {
      const empty = (): Float32Array[] =>
        Array.from({ length: layers }, () => new Float32Array(size));
      this.#cache = { keys: empty(), values: empty() };
      this.#nodes = [];
    }
    if (cachedTokens !== this.#cachedTokens) this.#nodes = [];
    this.#cachedTokens = cachedTokens;
    for (const [b, node] of nodes.entries()) {
      const before = this.#nodes[b] ?? null;
      // The next block of the same prompt: the preceding ones are already there.
      const isContinued = before !== null && pathTo(node).includes(before);
      const firstDepth = isContinued ? before.depth + 1 : 0;
      writePath(node, this.#cache, b, cachedTokens, this.#config, firstDepth);
      this.#nodes[b] = node;
    }
    return this.#cache;
  }
}
