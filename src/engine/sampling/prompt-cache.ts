/** Brings a prompt's blocks together into the cache that a run of the graph reads. */
import type { ModelConfig } from "../model/model-config.ts";
import { blockTokens, pathTo } from "./prefix-tree.ts";
import type { PrefixNode } from "./prefix-tree.ts";
import type { LayeredCache } from "./sampling-session.ts";

/** Copies the keys and values of `node` and its ancestors into slot `b` of a cache [B, K, T, D]. */
export function writePath(
  node: PrefixNode | null,
  cache: LayeredCache,
  b: number,
  cachedTokens: number,
  config: ModelConfig,
): void {
  const { kvHeads, headSize } = config;
  for (const block of pathTo(node)) {
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
