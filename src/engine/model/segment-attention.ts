/**
 * Attention of training: rows of different lengths lie one behind the other without padding, and rows
 * that begin alike share one copy of their beginning. Tokens are brought together for attention alone:
 * a trunk is what rows share, a branch is what a row has of its own, and looks at its trunk as well.
 */
import type { Graph, Value } from "../graph/graph.ts";
import { pickRows, takeRows } from "../graph/model-ops.ts";
import { concatRows, matmul } from "../graph/ops.ts";
import { groupQueries, scoresOf, sharesOf, splitHeads, ungroupQueries } from "./attention.ts";
import type { ModelConfig } from "./model-config.ts";
import type { Attention } from "./transformer.ts";

export const segmentKinds = ["trunk", "branch"] as const;
export type SegmentKind = (typeof segmentKinds)[number];
/** [b s] places of the tokens that look, [b t] of those looked at, [b, 1, 1, s, t] what hides. */
export type SegmentInput = `${SegmentKind}_${"queries" | "keys" | "mask"}`;

/** Declares its inputs, and `places` [N]: where each token is among trunks and then branches. */
export function segmentAttention(graph: Graph, config: ModelConfig): Attention {
  const views = segmentKinds.map((kind) => {
    const [b, s, t] = [`${kind}_b`, `${kind}_s`, `${kind}_t`] as const;
    const rows = `${kind}_bs`;
    return {
      sizes: { b, s, t, rows },
      queries: graph.input(`${kind}_queries` satisfies SegmentInput, "int64", [rows]),
      keys: graph.input(`${kind}_keys` satisfies SegmentInput, "int64", [`${kind}_bt`]),
      mask: graph.input(`${kind}_mask` satisfies SegmentInput, "float32", [b, 1, 1, s, t]),
    };
  });
  const places = graph.input("places", "int64", ["N"]);
  return (_, { queries, keys, values }) => {
    const parts = views.map(({ sizes: { b, s, t, rows }, ...view }): Value => {
      const q = groupQueries(pickRows(queries, view.queries), b, s, config);
      const k = splitHeads(pickRows(keys, view.keys), b, t, config);
      const v = splitHeads(pickRows(values, view.keys), b, t, config);
      const shares = sharesOf(scoresOf(q, k, config), view.mask, b, s, t, config);
      return ungroupQueries(matmul(shares, v), b, s, rows, config);
    });
    return takeRows(concatRows(parts[0]!, parts[1]!, "segments"), places);
  };
}
