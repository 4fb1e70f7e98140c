/**
 * Attention of training: rows of different lengths are concatenated without padding, and rows with a
 * common prefix share one copy of it. Tokens are gathered only for attention: a prefix is what rows
 * share, a suffix is the rest of a row and attends to its prefix as well.
 */
import type { Graph, Value } from "../graph/graph.ts";
import { permuteRows, rotaryRows } from "../graph/model-ops.ts";
import { add, concatInner, matmul, reshape } from "../graph/ops.ts";
import { groupQueries, scoresOf, sharesOf, splitHeads, ungroupQueries } from "./attention.ts";
import type { ModelConfig } from "./model-config.ts";
import type { Attention } from "./transformer.ts";

export type SegmentKind = "prefix" | "suffix";
/**
 * b segments, padded to s tokens, which attend to t. `tokens` [b s] is the token at each place, N if
 * none; `places` [N] is the place of each token, b s if none; `mask` [b, 1, 1, s, t] is added to scores.
 */
export type SegmentInput = `${SegmentKind}_${"tokens" | "places" | "mask"}`;

interface View {
  readonly b: string;
  readonly s: string;
  readonly t: string;
  readonly rows: string;
  readonly mask: Value;
  /** [N, W] -> [b s, W], zeros where no token is. */
  spread(x: Value): Value;
  /** [b s, W] -> [N, W], zeros for other tokens. */
  collect(x: Value): Value;
}

function declareView(graph: Graph, kind: SegmentKind): View {
  const [b, s, t, rows] = [`${kind}_b`, `${kind}_s`, `${kind}_t`, `${kind}_bs`] as const;
  const input = (name: SegmentInput, shape: readonly (string | number)[]): Value =>
    graph.input(name, name.endsWith("mask") ? "float32" : "int64", shape);
  const tokens = input(`${kind}_tokens`, [rows]);
  const places = input(`${kind}_places`, ["N"]);
  const mask = input(`${kind}_mask`, [b, 1, 1, s, t]);
  return {
    b,
    s,
    t,
    rows,
    mask,
    spread: (x) => permuteRows(x, tokens, places),
    collect: (x) => permuteRows(x, places, tokens),
  };
}

/** Positions [N, 1] int64 are encoded here. Declares its inputs, and `suffix_prefixes` [suffixes, prefixes]: 1 for the prefix of each suffix. */
export function segmentAttention(graph: Graph, config: ModelConfig, positions: Value): Attention {
  const prefix = declareView(graph, "prefix");
  const suffix = declareView(graph, "suffix");
  const prefixes = graph.input("suffix_prefixes", "float32", [suffix.b, prefix.b]);
  const width = config.kvHeads * config.headSize;

  const attend = ({ b, s, t, rows, mask }: View, queries: Value, keys: Value, values: Value) => {
    const q = groupQueries(queries, b, s, config);
    const k = splitHeads(keys, b, t, config);
    const v = splitHeads(values, b, t, config);
    const shares = sharesOf(scoresOf(q, k, config), mask, b, s, t, config);
    return ungroupQueries(matmul(shares, v), b, s, rows, config);
  };
  /** Prepends each suffix's prefix to its own keys or values. */
  const withPrefix = (ofPrefixes: Value, own: Value): Value => {
    const flat = reshape(ofPrefixes, [prefix.b, "prefix_floats"]);
    const before = reshape(matmul(prefixes, flat), [suffix.b, prefix.s, width]);
    return concatInner(before, reshape(own, [suffix.b, suffix.s, width]), suffix.t);
  };
  return (_, projections, tables) => {
    const queries = rotaryRows(projections.queries, positions, tables);
    const keys = rotaryRows(projections.keys, positions, tables);
    const { values } = projections;
    const prefixKeys = prefix.spread(keys);
    const prefixValues = prefix.spread(values);
    const ofPrefixes = attend(prefix, prefix.spread(queries), prefixKeys, prefixValues);
    const ofSuffixes = attend(
      suffix,
      suffix.spread(queries),
      withPrefix(prefixKeys, suffix.spread(keys)),
      withPrefix(prefixValues, suffix.spread(values)),
    );
    return add(prefix.collect(ofPrefixes), suffix.collect(ofSuffixes));
  };
}
