/**
 * Differentiable operations: each emits its forward node and defines how gradients flow back
 * (each is verified against finite differences in `ops.test.ts`). Model-shaped operations
 * (normalization, rotary embedding, token log-probabilities) are in `model-ops.ts`.
 */
import type { Dim } from "../onnx/model.ts";
import type { Graph, Value } from "./graph.ts";

function broadcastShape(a: readonly Dim[], b: readonly Dim[]): readonly Dim[] {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, i) => {
    const x = a[a.length - rank + i] ?? 1;
    const y = b[b.length - rank + i] ?? 1;
    if (x !== y && x !== 1 && y !== 1)
      throw new Error(`Shapes [${a.join()}] and [${b.join()}] do not broadcast.`);
    return x === 1 ? y : x;
  });
}

/** Sums a gradient over the axes along which its input was broadcast. */
function unbroadcast(gradient: Value, shape: readonly Dim[]): Value {
  const extra = gradient.shape.length - shape.length;
  const axes = gradient.shape.flatMap((dim, axis) =>
    axis < extra || (shape[axis - extra] === 1 && dim !== 1) ? [axis] : [],
  );
  if (axes.length === 0) return gradient;
  const graph = gradient.graph;
  const kept = gradient.shape.map((dim, axis) => (axes.includes(axis) ? 1 : dim));
  const summed = graph.node("ReduceSum", [gradient, graph.integers(...axes)], kept, {
    attributes: { keepdims: 1 },
  });
  return extra === 0 ? summed : graph.node("Reshape", [summed, graph.shapeVector(shape)], shape);
}

export function add(a: Value, b: Value): Value {
  const output = a.graph.node("Add", [a, b], broadcastShape(a.shape, b.shape));
  return a.graph.record(output, [a, b], (g) => [unbroadcast(g, a.shape), unbroadcast(g, b.shape)]);
}

export function subtract(a: Value, b: Value): Value {
  const output = a.graph.node("Sub", [a, b], broadcastShape(a.shape, b.shape));
  return a.graph.record(output, [a, b], (g) => [
    unbroadcast(g, a.shape),
    b.requiresGrad ? unbroadcast(negate(g), b.shape) : null,
  ]);
}

export function multiply(a: Value, b: Value): Value {
  const output = a.graph.node("Mul", [a, b], broadcastShape(a.shape, b.shape));
  return a.graph.record(output, [a, b], (g) => [
    a.requiresGrad ? unbroadcast(multiply(g, detach(b)), a.shape) : null,
    b.requiresGrad ? unbroadcast(multiply(g, detach(a)), b.shape) : null,
  ]);
}

export function negate(a: Value): Value {
  return a.graph.record(a.graph.node("Neg", [a], a.shape), [a], (g) => [negate(g)]);
}

export function scale(a: Value, factor: number): Value {
  return factor === 1 ? a : multiply(a, a.graph.scalar(factor));
}

export function exp(a: Value): Value {
  const output = a.graph.node("Exp", [a], a.shape);
  return a.graph.record(output, [a], (g) => [multiply(g, output)]);
}

/** Elementwise minimum; where equal, the gradient goes to `a`. Same shapes. */
export function minimum(a: Value, b: Value): Value {
  const { graph, shape } = a;
  const output = graph.node("Min", [a, b], shape);
  return graph.record(output, [a, b], (g) => {
    const first = graph.node("LessOrEqual", [a, b], shape, { dtype: "bool" });
    const zero = graph.scalar(0);
    return [
      graph.node("Where", [first, g, zero], shape),
      graph.node("Where", [first, zero, g], shape),
    ];
  });
}

/** Limits to [low, high], numbers or scalars; no gradient outside. */
export function clip(a: Value, low: number | Value, high: number | Value): Value {
  const { graph, shape } = a;
  const bound = (x: number | Value): Value => (typeof x === "number" ? graph.scalar(x) : x);
  const output = graph.node("Clip", [a, bound(low), bound(high)], shape);
  return graph.record(output, [a], (g) => {
    const unchanged = graph.node("Equal", [a, output], shape, { dtype: "bool" });
    return [graph.node("Where", [unchanged, g, graph.scalar(0)], shape)];
  });
}

/** 1 / (1 + exp(-a)). */
export function sigmoid(a: Value): Value {
  const { graph, shape } = a;
  const y = graph.node("Sigmoid", [a], shape);
  return graph.record(y, [a], (g) => [multiply(g, multiply(y, subtract(graph.scalar(1), y)))]);
}

/** Elementwise a < 0, as a condition for `select`. */
export function isNegative(a: Value): Value {
  return a.graph.node("Less", [a, a.graph.scalar(0)], a.shape, { dtype: "bool" });
}

/** `a` where the condition holds, else `b`. Same shapes, or scalars. */
export function select(condition: Value, a: Value, b: Value): Value {
  const { graph, shape } = condition;
  const output = graph.node("Where", [condition, a, b], shape);
  return graph.record(output, [a, b], (g) => {
    const zero = graph.scalar(0);
    return [
      unbroadcast(graph.node("Where", [condition, g, zero], shape), a.shape),
      unbroadcast(graph.node("Where", [condition, zero, g], shape), b.shape),
    ];
  });
}

/** The shape a value has at run time, [rank] int64. */
export function runtimeShape(a: Value): Value {
  return a.graph.node("Shape", [a], [a.shape.length], { dtype: "int64" });
}

/** Sum of all elements, a scalar. */
export function sum(a: Value): Value {
  const { graph } = a;
  const output = graph.node("ReduceSum", [a], [], { attributes: { keepdims: 0 } });
  return graph.record(output, [a], (g) => [graph.node("Expand", [g, runtimeShape(a)], a.shape)]);
}

export function reshape(a: Value, shape: readonly Dim[]): Value {
  const { graph } = a;
  const output = graph.node("Reshape", [a, reshapeVector(a, shape)], shape);
  return graph.record(output, [a], (g) => [reshape(g, a.shape)]);
}

/**
 * The new shape for a Reshape, where a size that stays in its place is 0: the runtime then knows its name,
 * and plans memory for a value of known shape in far less time.
 */
function reshapeVector(a: Value, shape: readonly Dim[]): Value {
  const kept = shape.map((dim, axis) =>
    typeof dim === "string" && a.shape[axis] === dim ? 0 : dim,
  );
  const unknown = kept.filter((dim) => typeof dim === "string");
  if (unknown.length > 1 || !kept.includes(0)) return a.graph.shapeVector(shape);
  return a.graph.integers(...kept.map((dim) => (typeof dim === "string" ? -1 : dim)));
}

export function transpose(a: Value, permutation: readonly number[]): Value {
  const { graph } = a;
  const shape = permutation.map((axis) => a.shape[axis] as Dim);
  const output = graph.node("Transpose", [a], shape, { attributes: { perm: permutation } });
  const inverse = permutation.map((_, axis) => permutation.indexOf(axis));
  return graph.record(output, [a], (g) => [transpose(g, inverse)]);
}

/** Concatenates along the last axis. Not differentiable: only the sampler uses it. */
export function concatLast(a: Value, b: Value, size: Dim): Value {
  const shape = [...a.shape.slice(0, -1), size];
  return a.graph.node("Concat", [a, b], shape, { attributes: { axis: shape.length - 1 } });
}

/** Concatenates [b, s, w] and [b, t, w] to [b, size, w]. */
export function concatInner(a: Value, b: Value, size: Dim): Value {
  const { graph } = a;
  const [rows, , width] = a.shape as readonly [Dim, Dim, Dim];
  const axis = graph.integers(1);
  const output = graph.node("Concat", [a, b], [rows, size, width], { attributes: { axis: 1 } });
  return graph.record(output, [a, b], (g) => {
    const boundary = graph.node("Gather", [runtimeShape(a), axis], [1], { dtype: "int64" });
    const end = graph.integers(2 ** 31 - 1);
    return [
      graph.node("Slice", [g, graph.integers(0), boundary, axis], a.shape),
      graph.node("Slice", [g, boundary, end, axis], b.shape),
    ];
  });
}

export interface MatmulOptions {
  /** Use the transpose of the last two axes. */
  readonly transposeA?: boolean;
  readonly transposeB?: boolean;
  /** Factor on the product. @default 1 */
  readonly alpha?: number;
}

/** `alpha * A B` over the last two axes; the leading axes are equal, or 1 in B where no gradient flows. */
export function matmul(a: Value, b: Value, options: MatmulOptions = {}): Value {
  const { transposeA = false, transposeB = false, alpha = 1 } = options;
  return a.graph.record(productIn(a.graph, a, b, options), [a, b], (g) => {
    const da = a.requiresGrad
      ? transposeA
        ? matmul(detach(b), g, { transposeA: transposeB, transposeB: true, alpha })
        : matmul(g, detach(b), { transposeB: !transposeB, alpha })
      : null;
    const db = b.requiresGrad
      ? transposeB
        ? matmul(g, detach(a), { transposeA: true, transposeB: transposeA, alpha })
        : matmul(detach(a), g, { transposeA: !transposeA, alpha })
      : null;
    return [da, db];
  });
}

/** As `matmul`, in another graph than that of the factors (a loop's body); not differentiable. */
export function productIn(graph: Graph, a: Value, b: Value, options: MatmulOptions = {}): Value {
  const { transposeA = false, transposeB = false, alpha = 1 } = options;
  const rows = a.shape.at(transposeA ? -1 : -2) as Dim;
  const columns = b.shape.at(transposeB ? -2 : -1) as Dim;
  const shape = [...a.shape.slice(0, -2), rows, columns];
  if (graph.operators === "fused") {
    return graph.node("FusedMatMul", [a, b], shape, {
      domain: "com.microsoft",
      attributes: {
        transA: Number(transposeA),
        transB: Number(transposeB),
        alpha: { float: alpha },
      },
    });
  }
  const left = transposeA ? lastAxesSwapped(graph, a) : a;
  const right = transposeB ? lastAxesSwapped(graph, b) : b;
  const product = graph.node("MatMul", [left, right], shape);
  return alpha === 1 ? product : graph.node("Mul", [product, graph.scalar(alpha)], shape);
}

function lastAxesSwapped(graph: Graph, { shape, ...value }: Value): Value {
  const axes = shape.map((_, axis) => axis);
  const perm = [...axes.slice(0, -2), ...axes.slice(-2).toReversed()];
  return graph.node(
    "Transpose",
    [{ ...value, shape }],
    perm.map((axis) => shape[axis]!),
    {
      attributes: { perm },
    },
  );
}

/** `c + alpha * A B^T`, all of them matrices. */
export function addProduct(c: Value, a: Value, b: Value, alpha: number): Value {
  const output = c.graph.node("Gemm", [a, b, c], c.shape, {
    attributes: { alpha: { float: alpha }, beta: { float: 1 }, transA: 0, transB: 1 },
  });
  return c.graph.record(output, [c, a, b], (g) => [
    g,
    a.requiresGrad ? matmul(g, detach(b), { alpha }) : null,
    b.requiresGrad ? matmul(g, detach(a), { transposeA: true, alpha }) : null,
  ]);
}

/** Softmax over the last axis. */
export function softmax(a: Value): Value {
  const { graph, shape } = a;
  const y = graph.node("Softmax", [a], shape, { attributes: { axis: -1 } });
  return graph.record(y, [a], (g) => {
    const reduced = [...shape.slice(0, -1), 1];
    const dot = graph.node("ReduceSum", [multiply(g, y), graph.integers(-1)], reduced, {
      attributes: { keepdims: 1 },
    });
    return [multiply(y, subtract(g, dot))];
  });
}

/** The same value, with no gradient flowing back through it. */
export function detach(a: Value): Value {
  return a.requiresGrad ? { ...a, requiresGrad: false } : a;
}
