/**
 * Attention of sampling: S new tokens of each of B sequences look at T cached ones and at each other.
 * The cache is only read; keys and values of the new tokens are handed out.
 */
import type { Graph, Value } from "../graph/graph.ts";
import { add, concatLast, matmul } from "../graph/ops.ts";
import {
  groupQueries,
  scoresOf,
  sharesOf,
  splitHeads,
  ungroupQueries,
} from "../model/attention.ts";
import type { ModelConfig } from "../model/model-config.ts";
import type { Attention } from "../model/transformer.ts";

/** [B, K, T, D] each, or [B, K, S, D] of new tokens. */
export interface KeysAndValues {
  readonly keys: Value;
  readonly values: Value;
}

export interface CachedAttention {
  readonly attention: Attention;
  /** By layer; filled as layers are built. */
  readonly added: readonly KeysAndValues[];
}

/** @param mask [B, 1, 1, S, T + S] */
export function cachedAttention(
  graph: Graph,
  config: ModelConfig,
  mask: Value,
  cacheOf: (layer: number) => KeysAndValues,
): CachedAttention {
  const added: KeysAndValues[] = [];
  const attention: Attention = (layer, projections) => {
    const own = {
      keys: splitHeads(projections.keys, "B", "S", config),
      values: splitHeads(projections.values, "B", "S", config),
    };
    added[layer] = own;
    const cache = cacheOf(layer);
    const queries = groupQueries(projections.queries, "B", "S", config);
    const scores = concatLast(
      scoresOf(queries, cache.keys, config),
      scoresOf(queries, own.keys, config),
      "TS",
    );
    const shares = sharesOf(scores, mask, "B", "S", "TS", config);
    const boundary = graph.sizeOf("T");
    const part = (from: Value, to: Value, size: string): Value =>
      graph.node(
        "Slice",
        [shares, from, to, graph.integers(3)],
        [...shares.shape.slice(0, 3), size],
      );
    const mixed = add(
      matmul(part(graph.integers(0), boundary, "T"), cache.values),
      matmul(part(boundary, graph.integers(2 ** 31 - 1), "S"), own.values),
    );
    return ungroupQueries(mixed, "B", "S", "N", config);
  };
  return { attention, added };
}
