/**
 * Differentiable operations shaped by language models. As in `ops.ts`, each is verified against finite
 * differences. `N` is a number of tokens.
 */
import { type Value, bytesOf } from "./graph.ts";
import type { Dim } from "../onnx/model.ts";
import { detach, multiply, reshape, runtimeShape, subtract } from "./ops.ts";

/** SiLU, x sigmoid(x) (arXiv:1702.03118). */
export function silu(x: Value): Value {
  const { graph, shape } = x;
  const attributes = { alpha: { float: 1 } };
  const output = graph.node("QuickGelu", [x], shape, { domain: "com.microsoft", attributes });
  return graph.record(output, [x], (g) => {
    // d/dx = s + x s (1 - s) = s + y (1 - s) with s = sigmoid(x), y = x s
    const s = graph.node("Sigmoid", [x], shape);
    const gradient = graph.node("Add", [s, multiply(output, subtract(graph.scalar(1), s))], shape);
    return [multiply(g, gradient)];
  });
}

/**
 * RMS normalization over the last axis, y = w x / sqrt(mean(x^2) + eps) (arXiv:1910.07467).
 * x: [N, H], weight: [H].
 */
export function rmsNorm(x: Value, weight: Value, epsilon: number): Value {
  const { graph, shape } = x;
  const perRow = [...shape.slice(0, -1), 1];
  const attributes = { axis: -1, epsilon: { float: epsilon } };
  if (!x.requiresGrad && !weight.requiresGrad) {
    return graph.node("SimplifiedLayerNormalization", [x, weight], shape, { attributes });
  }
  const [output, inverse] =
    graph.operators === "fused"
      ? (graph.nodes("SimplifiedLayerNormalization", [x, weight], [shape, perRow], {
          attributes,
        }) as [Value, Value])
      : composedRmsNorm(x, weight, epsilon);
  return graph.record(output, [x, weight], (g) => {
    const normalised = multiply(detach(x), inverse);
    const dw = weight.requiresGrad
      ? graph.node("ReduceSum", [multiply(g, normalised), graph.integers(0)], weight.shape, {
          attributes: { keepdims: 0 },
        })
      : null;
    if (!x.requiresGrad) return [null, dw];
    const gw = multiply(g, detach(weight));
    const mean = graph.node("ReduceMean", [multiply(gw, normalised)], perRow, {
      attributes: { axes: [-1], keepdims: 1 },
    });
    return [multiply(inverse, subtract(gw, multiply(normalised, mean))), dw];
  });
}

/** The normalized rows and the factor on each. WebGPU's kernel leaves the factor unwritten. */
function composedRmsNorm(x: Value, weight: Value, epsilon: number): readonly [Value, Value] {
  const { graph, shape } = x;
  const perRow = [...shape.slice(0, -1), 1];
  const mean = graph.node("ReduceMean", [graph.node("Mul", [x, x], shape)], perRow, {
    attributes: { axes: [-1], keepdims: 1 },
  });
  const root = graph.node(
    "Sqrt",
    [graph.node("Add", [mean, graph.scalar(epsilon)], perRow)],
    perRow,
  );
  const inverse = graph.node("Reciprocal", [root], perRow);
  const normalised = graph.node("Mul", [x, inverse], shape);
  return [graph.node("Mul", [normalised, weight], shape), inverse];
}

/** Tables of cos and sin, [positions, headSize / 2] each; `negativeSin` rotates in the opposite direction. */
export interface RotaryTables {
  readonly cos: Value;
  readonly sin: Value;
  readonly negativeSin: Value;
}

/**
 * Rotates pairs (i, i + headSize / 2) of every head by position (RoPE, arXiv:2104.09864).
 * x: [B, S, heads * headSize], or [B, heads, S, headSize] on a CPU; positions: [B, S] int64. The gradient is rotated back by the same angles.
 */
export function rotary(x: Value, positions: Value, tables: RotaryTables): Value {
  const { graph, shape } = x;
  const turn = (input: Value, sin: Value): Value =>
    graph.node("RotaryEmbedding", [input, positions, tables.cos, sin], shape, {
      domain: "com.microsoft",
    });
  return graph.record(turn(x, tables.sin), [x], (g) => [turn(g, tables.negativeSin)]);
}

/** `rotary` of heads next to each other: x [N, heads * headSize], positions [N, 1]. */
export function rotaryRows(x: Value, positions: Value, tables: RotaryTables): Value {
  const [rows, width] = x.shape as readonly [Dim, Dim];
  return reshape(rotary(reshape(x, [rows, 1, width]), positions, tables), [rows, width]);
}

/** Rows of a table by id: table [V, H], ids [N] int64 -> [N, H]. Gradients of repeated ids are summed. */
export function embed(table: Value, ids: Value): Value {
  return gatherRows(table, ids, false);
}

/** Rows `indices` [R] of x [N, H], each at most once. */
export function takeRows(x: Value, indices: Value): Value {
  return gatherRows(x, indices, true);
}

function gatherRows(table: Value, ids: Value, unique: boolean): Value {
  const { graph } = table;
  const width = table.shape[1] as number;
  const shape = [ids.shape[0] as string, width];
  const output = graph.node("Gather", [table, ids], shape, { attributes: { axis: 0 } });
  return graph.record(output, [table], (g) => {
    const zeros = graph.node("Expand", [graph.scalar(0), runtimeShape(table)], table.shape);
    const column = graph.node("Unsqueeze", [ids, graph.integers(1)], [shape[0] as string, 1], {
      dtype: "int64",
    });
    if (unique) return [graph.node("ScatterND", [zeros, column, g], table.shape)];
    // Not ScatterND, whose threads lose sums of repeated ids.
    const wide = graph.node("Expand", [column, runtimeShape(g)], shape, { dtype: "int64" });
    return [
      graph.node("ScatterElements", [zeros, wide, g], table.shape, {
        attributes: { axis: 0, reduction: "add" },
      }),
    ];
  });
}

/**
 * Rows of x [N, H] in another order, each at most once: `sources` [M] holds the row of x for each row of
 * the result, N for a row of zeros; `targets` [N] is its inverse, M for a row that is dropped.
 */
export function permuteRows(x: Value, sources: Value, targets: Value): Value {
  const { graph } = x;
  const width = x.shape[1] as number;
  const zeros = graph.zeroRow(width);
  const more = graph.node("Concat", [x, zeros], ["more", width], { attributes: { axis: 0 } });
  const output = graph.node("Gather", [more, sources], [sources.shape[0]!, width], {
    attributes: { axis: 0 },
  });
  return graph.record(output, [x], (g) => [permuteRows(g, targets, sources)]);
}

/** Constant rotary tables. */
export function rotaryTables(
  graph: Value["graph"],
  positions: number,
  frequencies: readonly number[],
): RotaryTables {
  const half = frequencies.length;
  const cos = new Float32Array(positions * half);
  const sin = new Float32Array(positions * half);
  for (let p = 0; p < positions; p++) {
    for (let i = 0; i < half; i++) {
      cos[p * half + i] = Math.cos(p * (frequencies[i] as number));
      sin[p * half + i] = Math.sin(p * (frequencies[i] as number));
    }
  }
  const table = (data: Float32Array): Value =>
    graph.constant("float32", [positions, half], bytesOf(data));
  return { cos: table(cos), sin: table(sin), negativeSin: table(sin.map((x) => -x)) };
}
