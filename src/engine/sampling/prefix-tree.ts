/**
 * Keys and values of prompts, shared by all sequences with the same prefix. A prompt is cut into blocks
 * at multiples of `blockTokens`; a node holds one block and is computed from its ancestors and its own
 * tokens alone, always with the same tensor shapes. So a prompt's cache is a function of
 * its tokens: it does not matter which request came first, what was evicted, or which tokens were sampled.
 */

/** Tokens in a full block. */
export const blockTokens = 64;

export interface PrefixNode {
  readonly parent: PrefixNode | null;
  /** Blocks before this one. */
  readonly depth: number;
  /** 1 to `blockTokens` ids. */
  readonly tokens: Int32Array;
  /** Per layer, [K, tokens, D]. */
  readonly keys: readonly Float32Array[];
  readonly values: readonly Float32Array[];
  /** [V] probabilities of the token after the block's last one. */
  readonly probabilities: Float32Array;
  readonly children: Map<string, PrefixNode>;
  readonly bytes: number;
  lastUse: number;
}

/** The blocks of a prompt, the last one possibly short. */
export function cutIntoBlocks(tokens: Int32Array): readonly Int32Array[] {
  return Array.from({ length: Math.ceil(tokens.length / blockTokens) }, (_, i) =>
    tokens.subarray(i * blockTokens, (i + 1) * blockTokens),
  );
}

export function blockKey(tokens: Int32Array): string {
  return tokens.join();
}

/** The path from the first block to `node`. */
export function pathTo(node: PrefixNode | null): readonly PrefixNode[] {
  const path: PrefixNode[] = [];
  for (let at = node; at !== null; at = at.parent) path.push(at);
  return path.toReversed();
}

export class PrefixTree {
  readonly #roots = new Map<string, PrefixNode>();
  readonly #maxBytes: number;
  #bytes = 0;
  #clock = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  #children(parent: PrefixNode | null): Map<string, PrefixNode> {
    return parent === null ? this.#roots : parent.children;
  }

  find(parent: PrefixNode | null, key: string): PrefixNode | undefined {
    const node = this.#children(parent).get(key);
    if (node !== undefined) node.lastUse = ++this.#clock;
    return node;
  }

  insert(node: Omit<PrefixNode, "children" | "bytes" | "lastUse" | "depth">): PrefixNode {
    const size = (arrays: readonly Float32Array[]): number =>
      arrays.reduce((n, a) => n + a.byteLength, 0);
    const inserted: PrefixNode = {
      ...node,
      depth: node.parent === null ? 0 : node.parent.depth + 1,
      children: new Map(),
      bytes: size(node.keys) + size(node.values) + node.probabilities.byteLength,
      lastUse: ++this.#clock,
    };
    this.#children(node.parent).set(blockKey(node.tokens), inserted);
    this.#bytes += inserted.bytes;
    return inserted;
  }

  /** Forgets least recently used leaves until the limit is met, but none of `needed`. */
  trim(needed: ReadonlySet<PrefixNode | null>): void {
    while (this.#bytes > this.#maxBytes) {
      const leaves = [...this.#leaves(this.#roots)]
        .filter((leaf) => !needed.has(leaf))
        .toSorted((a, b) => a.lastUse - b.lastUse);
      if (leaves.length === 0) return;
      for (const leaf of leaves) {
        if (this.#bytes <= this.#maxBytes) return;
        this.#children(leaf.parent).delete(blockKey(leaf.tokens));
        this.#bytes -= leaf.bytes;
      }
    }
  }

  *#leaves(nodes: ReadonlyMap<string, PrefixNode>): Iterable<PrefixNode> {
    for (const node of nodes.values()) {
      if (node.children.size === 0) yield node;
      else yield* this.#leaves(node.children);
    }
  }

  /** New weights invalidate every cached number. */
  clear(): void {
    this.#roots.clear();
    this.#bytes = 0;
  }
}
