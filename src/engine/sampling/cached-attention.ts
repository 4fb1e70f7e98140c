/**
 * Attention of sampling: S new tokens of each of B sequences attend to T cached ones and to each other.
 * The cache is only read; keys and values of the new tokens are returned.
 *
 * Query heads that share keys are multiplied one by one: for the single row that a new token is, the
 * runtime reads keys in place, while it would rearrange them for several rows.
 */
import type { Graph, Value } from "../graph/graph.ts";
import { add, concatLast, matmul, reshape, scale, softmax, transpose } from "../graph/ops.ts";
import { splitHeads } from "../model/attention.ts";
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
  const { kvHeads, heads, headSize } = config;
  const added: KeysAndValues[] = [];
  /** [B, K, t, D], for every query head of a group. */
  const forGroup = (x: Value, t: string): Value => reshape(x, ["B", kvHeads, 1, t, headSize]);
  const attention: Attention = (layer, projections) => {
    const own = {
      keys: splitHeads(projections.keys, "B", "S", config),
      values: splitHeads(projections.values, "B", "S", config),
    };
    added[layer] = own;
    const cache = cacheOf(layer);
    // A factor on the product would prevent the runtime from using its kernel for single rows.
    const scaled = scale(projections.queries, 1 / Math.sqrt(headSize));
    const apart = reshape(scaled, ["B", "S", kvHeads, heads / kvHeads, headSize]);
    const queries = transpose(apart, [0, 2, 3, 1, 4]);
    const scoresOf = (keys: Value, t: string): Value =>
      matmul(queries, forGroup(keys, t), { transposeB: true });
    const scores = concatLast(scoresOf(cache.keys, "T"), scoresOf(own.keys, "S"), "TS");
    const shares = softmax(add(scores, mask));
    const boundary = graph.sizeOf("T");
    const part = (from: Value, to: Value, t: string): Value =>
      graph.node(
        "Slice",
        [shares, from, to, graph.integers(-1)],
        [...shares.shape.slice(0, -1), t],
      );
    const mixed = add(
      matmul(part(graph.integers(0), boundary, "T"), forGroup(cache.values, "T")),
      matmul(part(boundary, graph.integers(2 ** 31 - 1), "S"), forGroup(own.values, "S")),
    );
    return reshape(transpose(mixed, [0, 3, 1, 2, 4]), ["N", heads * headSize]);
  };
  return { attention, added };
}
