/**
 * Attention of training: rows of different lengths lie one behind the other without padding, and rows
 * that begin alike share one copy of their beginning. Tokens are brought together for attention alone:
 * a trunk is what rows share, a branch is what a row has of its own, and looks at its trunk as well.
 */
import type { Graph, Value } from "../graph/graph.ts";
import { permuteRows } from "../graph/model-ops.ts";
import { add, concatInner, matmul, reshape } from "../graph/ops.ts";
import { groupQueries, scoresOf, sharesOf, splitHeads, ungroupQueries } from "./attention.ts";
import type { ModelConfig } from "./model-config.ts";
import type { Attention } from "./transformer.ts";

export type SegmentKind = "trunk" | "branch";
/**
 * b segments, padded to s tokens, which look at t. `tokens` [b s] says which token is at a place, N if
 * none; `places` [N] says where a token is, b s if nowhere; `mask` [b, 1, 1, s, t] hides.
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

/** Declares its inputs, and `branch_trunks` [branches, trunks]: 1 for the trunk of each branch. */
export function segmentAttention(graph: Graph, config: ModelConfig): Attention {
  const trunk = declareView(graph, "trunk");
  const branch = declareView(graph, "branch");
  const trunks = graph.input("branch_trunks", "float32", [branch.b, trunk.b]);
  const width = config.kvHeads * config.headSize;

  const attend = ({ b, s, t, rows, mask }: View, queries: Value, keys: Value, values: Value) => {
    const q = groupQueries(queries, b, s, config);
    const k = splitHeads(keys, b, t, config);
    const v = splitHeads(values, b, t, config);
    const shares = sharesOf(scoresOf(q, k, config), mask, b, s, t, config);
    return ungroupQueries(matmul(shares, v), b, s, rows, config);
  };
  /** Each branch's trunk before its own. */
  const withTrunk = (ofTrunks: Value, own: Value): Value => {
    const flat = reshape(ofTrunks, [trunk.b, "trunk_floats"]);
    const before = reshape(matmul(trunks, flat), [branch.b, trunk.s, width]);
    return concatInner(before, reshape(own, [branch.b, branch.s, width]), branch.t);
  };
  return (_, { queries, keys, values }) => {
    const trunkKeys = trunk.spread(keys);
    const trunkValues = trunk.spread(values);
    const ofTrunks = attend(trunk, trunk.spread(queries), trunkKeys, trunkValues);
    const ofBranches = attend(
      branch,
      branch.spread(queries),
      withTrunk(trunkKeys, branch.spread(keys)),
      withTrunk(trunkValues, branch.spread(values)),
    );
    return add(trunk.collect(ofTrunks), branch.collect(ofBranches));
  };
}
