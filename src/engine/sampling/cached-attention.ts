/**
 * Attention of sampling: S new tokens of each of B sequences attend to T cached ones and to each other.
 * The cache is only read; keys and values of the new tokens are returned.
 *
 * Query heads that share keys are multiplied one by one: for the single row that a new token is, the
 * runtime reads keys in place, while it would rearrange them for several rows. (Its fused operator,
 * GroupQueryAttention, takes 1.4 to 4 times as long for one new token on AVX2.)
 */
import type { Value } from "../graph/graph.ts";
import { rotary, rotaryRows, type RotaryTables } from "../graph/model-ops.ts";
import { add, concatLast, matmul, reshape, scale, softmax, transpose } from "../graph/ops.ts";
import type { Dim } from "../onnx/model.ts";
import type { ModelConfig } from "../model/model-config.ts";
import type { Attention } from "../model/transformer.ts";

/** [B, K, 1, T, D] each, or [B, K, 1, S, D] of new tokens: the same for every query head of a group. */
export interface KeysAndValues {
  readonly keys: Value;
  readonly values: Value;
}

export interface CachedAttention {
  readonly attention: Attention;
  /** By layer; filled as layers are built. */
  readonly added: readonly KeysAndValues[];
}

export interface CachedAttentionInputs {
  /** [B, S] int64 */
  readonly positions: Value;
  /** [B, 1, 1, S, T + S] */
  readonly mask: Value;
  readonly cacheOf: (layer: number) => KeysAndValues;
}

export function cachedAttention(
  config: ModelConfig,
  { positions, mask, cacheOf }: CachedAttentionInputs,
): CachedAttention {
  const { kvHeads, heads, headSize } = config;
  const { graph } = positions;
  const added: KeysAndValues[] = [];
  const grouped = (shape: readonly Dim[], x: Value): Value =>
    reshape(x, ["B", ...shape, "S", headSize]);
  /** Heads apart, [B, count, S, D]. */
  const apart = (x: Value, count: number): Value =>
    transpose(reshape(x, ["B", "S", count, headSize]), [0, 2, 1, 3]);
  // Not every provider rotates heads that are apart.
  const rows = graph.operators === "fused" ? null : reshape(positions, ["N", 1]);
  const turned = (x: Value, count: number, tables: RotaryTables): Value =>
    rows === null
      ? rotary(apart(x, count), positions, tables)
      : apart(rotaryRows(x, rows, tables), count);
  const attention: Attention = (layer, projections, tables) => {
    const own = {
      keys: grouped([kvHeads, 1], turned(projections.keys, kvHeads, tables)),
      values: transpose(
        reshape(projections.values, ["B", "S", kvHeads, 1, headSize]),
        [0, 2, 3, 1, 4],
      ),
    };
    added[layer] = own;
    const cache = cacheOf(layer);
    // A factor on the product would prevent the runtime from using its kernel for single rows.
    const scaled = scale(projections.queries, 1 / Math.sqrt(headSize));
    const queries = grouped([kvHeads, heads / kvHeads], turned(scaled, heads, tables));
    const scoresOf = (keys: Value): Value => matmul(queries, keys, { transposeB: true });
    const scores = concatLast(scoresOf(cache.keys), scoresOf(own.keys), "TS");
    const shares = softmax(add(scores, mask));
    const sizes = graph.shapeVector(["T", "S"]);
    const leading = shares.shape.slice(0, -1);
    const [ofCache, ofOwn] = graph.nodes(
      "Split",
      [shares, sizes],
      [
        [...leading, "T"],
        [...leading, "S"],
      ],
      { attributes: { axis: -1 } },
    ) as [Value, Value];
    const mixed = add(matmul(ofCache, cache.values), matmul(ofOwn, own.values));
    return reshape(transpose(mixed, [0, 3, 1, 2, 4]), ["N", heads * headSize]);
  };
  return { attention, added };
}
