/**
 * Products of floating-point rows with frozen matrices of 8-bit integers, one scale for each output.
 * Forward, a row becomes two terms of 8 bits each (about 16 in all), so that nothing but the matrix is
 * rounded noticeably; backward, one term is enough for a gradient. Every scale belongs to one row, so
 * results do not depend on which other rows are computed.
 */
import type { Graph, Value } from "./graph.ts";

/**
 * Type of the stored integers, which decides the runtime's kernel. Rows are unsigned; kernels for
 * processors without dot products of bytes saturate, and so are wrong, where the matrix is signed.
 */
export type IntegerKernel = "int8" | "uint8";

/** Largest absolute value of an integer, on both sides. */
export const largestInteger = 127;
/** What represents 0 where integers are unsigned. */
export const zeroPoint = 128;
/** The second term covers half a step of the first to both sides. */
const finerSteps = 2 * largestInteger;
/** Keeps a row of zeros from being divided by 0; far below any gradient that matters. */
const smallest = 1e-30;

/** W as [out, in] = scales * integers, in the two layouts that its products need. */
export interface IntegerMatrix {
  readonly kernel: IntegerKernel;
  readonly inputs: number;
  readonly outputs: number;
  /** [out] */
  readonly scales: Value;
  /** The integers as [in, out]; declared when it is first needed. */
  readonly forward: () => Value;
  /** The integers as [out, in]. */
  readonly backward: () => Value;
}

/** Unsigned rows times integers, as floats: factor * scales * (codes - 128) B. */
function multiplyCodes(
  codes: Value,
  matrix: Value,
  { factor, scales }: { readonly factor: number; readonly scales: Value },
  outputs: number,
): Value {
  const { graph } = codes;
  const zero = graph.byte(zeroPoint);
  const inputs = [codes, matrix, graph.scalar(factor), scales, zero];
  return graph.node(
    "MatMulIntegerToFloat",
    matrix.dtype === "uint8" ? [...inputs, zero] : inputs,
    [codes.shape[0]!, outputs],
    { domain: "com.microsoft" },
  );
}

/** The largest absolute value of each row, [N, 1], and a little more than 0. */
function rowPeaks(x: Value): Value {
  const { graph, shape } = x;
  const perRow = [shape[0]!, 1];
  const peaks = graph.node("ReduceMax", [graph.node("Abs", [x], shape)], perRow, {
    attributes: { axes: [1], keepdims: 1 },
  });
  return graph.node("Add", [peaks, graph.scalar(smallest)], perRow);
}

/** round(values / step) + 128, for values up to 127 steps on both sides. */
function codesOf(values: Value, step: number): Value {
  const { graph, shape } = values;
  const inputs = [values, graph.scalar(step), graph.byte(zeroPoint)];
  return graph.node("QuantizeLinear", inputs, shape, { dtype: "uint8" });
}

/** x W^T, [N, in] -> [N, out]. */
export function forwardProduct(x: Value, matrix: IntegerMatrix): Value {
  const { graph, shape } = x;
  const peaks = rowPeaks(x);
  const row = graph.node("Div", [x, peaks], shape);
  const coarse = 1 / largestInteger;
  const fine = coarse / finerSteps;
  const high = codesOf(row, coarse);
  const covered = graph.node(
    "DequantizeLinear",
    [high, graph.scalar(coarse), graph.byte(zeroPoint)],
    shape,
  );
  const low = codesOf(graph.node("Sub", [row, covered], shape), fine);
  const product = (codes: Value, factor: number): Value =>
    multiplyCodes(codes, matrix.forward(), { factor, scales: matrix.scales }, matrix.outputs);
  const outputShape = [shape[0]!, matrix.outputs];
  const sum = graph.node("Add", [product(high, coarse), product(low, fine)], outputShape);
  return graph.node("Mul", [sum, peaks], outputShape);
}

/** g W, [N, out] -> [N, in]: the gradient of `forwardProduct` to its rows. */
export function backwardProduct(g: Value, matrix: IntegerMatrix): Value {
  const { graph, shape } = g;
  const scaled = graph.node("Mul", [g, matrix.scales], shape);
  const peaks = rowPeaks(scaled);
  const step = 1 / largestInteger;
  const codes = codesOf(graph.node("Div", [scaled, peaks], shape), step);
  const scales = { factor: step, scales: graph.scalar(1) };
  const product = multiplyCodes(codes, matrix.backward(), scales, matrix.inputs);
  return graph.node("Mul", [product, peaks], [shape[0]!, matrix.inputs]);
}

/** Columns of x [N, sum of widths] as separate values. Not differentiable. */
export function splitColumns(x: Value, widths: readonly number[]): readonly Value[] {
  if (widths.length === 1) return [x];
  const { graph, shape } = x;
  const shapes = widths.map((width) => [shape[0]!, width]);
  const attributes = { axis: 1 };
  return graph.nodes("Split", [x, graph.integers(...widths)], shapes, { attributes });
}

/** The inverse of `splitColumns`; columns without a value are zeros. Not differentiable. */
export function joinColumns(
  graph: Graph,
  parts: readonly (Value | undefined)[],
  widths: readonly number[],
): Value {
  const known = parts.find((part) => part !== undefined)!;
  if (parts.length === 1) return known;
  const N = known.shape[0]!;
  const filled = parts.map((part, i) => {
    if (part !== undefined) return part;
    const rows = graph.node(
      "Gather",
      [graph.node("Shape", [known], [2], { dtype: "int64" }), graph.integers(0)],
      [1],
      { dtype: "int64", attributes: { axis: 0 } },
    );
    const size = graph.node("Concat", [rows, graph.integers(widths[i]!)], [2], {
      dtype: "int64",
      attributes: { axis: 0 },
    });
    return graph.node("Expand", [graph.scalar(0), size], [N, widths[i]!]);
  });
  const total = widths.reduce((sum, width) => sum + width, 0);
  return graph.node("Concat", filled, [N, total], { attributes: { axis: 1 } });
}
