/**
 * Differentiable sums over segments: elements x [R] belong to segments [R] (int64, 0 to B - 1), as
 * trained tokens belong to rows. Elements are summed in order.
 */
import type { Value } from "./graph.ts";
import { multiply, runtimeShape } from "./ops.ts";

/** Sum of each segment, [B]. `like` has the shape [B]. */
export function segmentSum(x: Value, segments: Value, like: Value): Value {
  const { graph } = x;
  const zeros = graph.node("Expand", [graph.scalar(0), runtimeShape(like)], like.shape);
  const output = graph.node("ScatterElements", [zeros, segments, x], like.shape, {
    attributes: { axis: 0, reduction: "add" },
  });
  return graph.record(output, [x], (g) => [atSegments(g, segments)]);
}

/** Each element's entry of x [B], [R]. */
export function atSegments(x: Value, segments: Value): Value {
  const output = x.graph.node("Gather", [x, segments], segments.shape, {
    attributes: { axis: 0 },
  });
  return x.graph.record(output, [x], (g) => [segmentSum(g, segments, x)]);
}

/** Each element's segment mean, [R]. `shares` [B]: 1 / number of elements of each segment. */
export function segmentMean(x: Value, segments: Value, shares: Value): Value {
  return atSegments(multiply(segmentSum(x, segments, shares), shares), segments);
}
