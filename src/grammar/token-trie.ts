/** A trie of the bytes of all tokens. */
import type { Vocabulary } from "../core/vocabulary.ts";

/** Nodes in the order of a walk: a node's first child follows it, and `after` is the node past its subtree. */
export interface TokenTrie {
  readonly nodes: number;
  /** [node] the byte that leads to it. */
  readonly byte: Uint8Array;
  /** [node] from 1. */
  readonly depth: Uint16Array;
  readonly after: Uint32Array;
  /** [node + 1] the tokens that end there: `tokens` from one to the next. */
  readonly tokensFrom: Uint32Array;
  readonly tokens: Uint32Array;
}

export function buildTrie({ size, bytes, offsets }: Vocabulary): TokenTrie {
  const of = (id: number): Uint8Array => bytes.subarray(offsets[id], offsets[id + 1]);
  const ids = Array.from({ length: size }, (_, id) => id)
    .filter((id) => offsets[id + 1]! > offsets[id]!)
    .sort((a, b) => Buffer.compare(of(a), of(b)) || a - b);
  const byte: number[] = [];
  const depth: number[] = [];
  const after: number[] = [];
  const tokensFrom: number[] = [];
  const path: number[] = [];
  let last: Uint8Array = new Uint8Array(0);
  const close = (kept: number): void => {
    while (path.length > kept) after[path.pop()!] = byte.length;
  };
  for (const [i, id] of ids.entries()) {
    const own = of(id);
    let kept = 0;
    while (kept < own.length && kept < last.length && own[kept] === last[kept]) kept++;
    close(kept);
    for (let d = kept; d < own.length; d++) {
      path.push(byte.length);
      byte.push(own[d]!);
      depth.push(d + 1);
      // Its tokens follow; a node on the way to one has none.
      tokensFrom.push(i);
      after.push(0);
    }
    last = own;
  }
  close(0);
  tokensFrom.push(ids.length);
  return {
    nodes: byte.length,
    byte: Uint8Array.from(byte),
    depth: Uint16Array.from(depth),
    after: Uint32Array.from(after),
    tokensFrom: Uint32Array.from(tokensFrom),
    tokens: Uint32Array.from(ids),
  };
}
