/**
 * Attention over equally long sequences with equally many keys (arXiv:1706.03762), its query heads in
 * groups that share keys and values (arXiv:2305.13245). It does not depend on where the keys come from.
 *
 * Sizes: b sequences, s queries and t keys each; D head size, K key/value heads, G query heads per
 * key/value head.
 */
import type { Value } from "../graph/graph.ts";
import { add, matmul, reshape, softmax, transpose } from "../graph/ops.ts";
import type { Dim } from "../onnx/model.ts";
import type { ModelConfig } from "./model-config.ts";

/** Mask value where a token must not attend: exp of it is 0, and it stays finite with scores added. */
export const maskedScore = -1e9;

/** Queries that share keys are stacked, so that one product serves the group: [b s, K G D] -> [b, K, G s, D]. */
export function groupQueries(x: Value, b: Dim, s: Dim, config: ModelConfig): Value {
  const { kvHeads, heads, headSize } = config;
  const apart = reshape(x, [b, s, kvHeads, heads / kvHeads, headSize]);
  return reshape(transpose(apart, [0, 2, 3, 1, 4]), [b, kvHeads, stacked(s), headSize]);
}

/** The inverse: [b, K, G s, D] -> [b s, K G D]. `rows` is the name of b s. */
export function ungroupQueries(
  x: Value,
  b: Dim,
  s: Dim,
  rows: Dim,
  { kvHeads, heads, headSize }: ModelConfig,
): Value {
  const apart = reshape(x, [b, kvHeads, heads / kvHeads, s, headSize]);
  return reshape(transpose(apart, [0, 3, 1, 2, 4]), [rows, heads * headSize]);
}

/** Keys or values by head: [b t, K D] -> [b, K, t, D]. */
export function splitHeads(x: Value, b: Dim, t: Dim, { kvHeads, headSize }: ModelConfig): Value {
  return transpose(reshape(x, [b, t, kvHeads, headSize]), [0, 2, 1, 3]);
}

/** Scores of grouped queries against keys, [b, K, G s, t]. */
export function scoresOf(queries: Value, keys: Value, { headSize }: ModelConfig): Value {
  return matmul(queries, keys, { transposeB: true, alpha: 1 / Math.sqrt(headSize) });
}

/** Attention weights, [b, K, G s, t]. `mask` is added to the scores, [b, 1, 1, s, t]. */
export function sharesOf(
  scores: Value,
  mask: Value,
  b: Dim,
  s: Dim,
  t: Dim,
  { kvHeads, heads }: ModelConfig,
): Value {
  const masked = add(reshape(scores, [b, kvHeads, heads / kvHeads, s, t]), mask);
  return reshape(softmax(masked), [b, kvHeads, stacked(s), t]);
}

const stacked = (s: Dim): string => `G${s}`;
