/**
 * Log-probabilities of targets, and entropies, under softmax(h W^T), without ever keeping the logits of
 * all rows: a loop computes those of one chunk, keeps one number per row, and drops them.
 *
 * The gradient of such a number to h is a vector per row, J = (dz/dlogits) W, and what flows back is
 * only scaled by the row's own gradient. So J, [R, H], is computed in the same iteration, and the logits are
 * not recomputed. The gradient to W, where it is trained, does need them again.
 *
 *   log p(t):  dz = onehot(t) - p          entropy:  dz = -p (log p + entropy)
 */
import type { Graph, Value } from "./graph.ts";
import { detach, multiply, negate, productIn, reshape, runtimeShape } from "./ops.ts";

export interface HeadInputs {
  /** h [R, H]; `R` is known only at run time. */
  readonly hidden: Value;
  /** W [V, H] */
  readonly matrix: Value;
  /** [chunks x chunk] int64, the R targets, followed by any padding. */
  readonly targets: Value;
  /** Number of chunks, a scalar, int64. */
  readonly chunks: Value;
  /** Added to the logits of each row: row `of[r]` of `rows`. @default nothing */
  readonly biases?: {
    /** [P, V] */
    readonly rows: Value;
    /** [chunks x chunk] int64 */
    readonly of: Value;
  };
  /** Rows in each, [1] int64; chunks x chunk is at least R. */
  readonly chunk: Value;
}

export type HeadQuantity = "logprob" | "entropy";

/** One value per row, [R]. */
export function headValues(inputs: HeadInputs, quantity: HeadQuantity): Value {
  const { hidden, matrix, chunks } = inputs;
  const { graph } = hidden;
  const [R, H] = hidden.shape as [string, number];
  const isTracked = hidden.requiresGrad || matrix.requiresGrad;
  const padded = padRows(inputs);
  const { stacked } = graph.loop(chunks, [], (body, turn) => {
    const part = chunkOf(body, turn, inputs, padded);
    const value = quantity === "logprob" ? part.logprob : part.entropy();
    return {
      carried: [],
      stacked: isTracked ? [value, jacobian(body, part, matrix, quantity)] : [value],
    };
  });
  const firstRows = (value: Value, shape: readonly (string | number)[]): Value => {
    const flat = graph.node(
      "Reshape",
      [value, graph.integers(-1, ...(shape.slice(1) as number[]))],
      ["padded", ...shape.slice(1)],
    );
    const ends = graph.sizeOf(R);
    return graph.node("Slice", [flat, graph.integers(0), ends, graph.integers(0)], shape);
  };
  const values = firstRows(stacked[0]!, [R]);
  return graph.record(values, [hidden, matrix], (g) => {
    const column = reshape(g, [R, 1]);
    return [
      multiply(column, firstRows(stacked[1]!, [R, H])),
      matrix.requiresGrad ? matrixGradient(inputs, padded, column, quantity) : null,
    ];
  });
}

/** [chunks x chunk, H], padded with zeros after the rows. */
function padRows({ hidden, targets }: HeadInputs): Value {
  const { graph } = hidden;
  const missing = graph.node(
    "Sub",
    [runtimeShape(targets), graph.sizeOf(hidden.shape[0] as string)],
    [1],
    {
      dtype: "int64",
    },
  );
  const zero = graph.integers(0);
  const pads = graph.node("Concat", [graph.integers(0, 0), missing, zero], [4], {
    dtype: "int64",
    attributes: { axis: 0 },
  });
  return graph.node("Pad", [hidden, pads], ["padded", hidden.shape[1]!]);
}

interface Chunk {
  /** [chunk, H] */
  readonly hidden: Value;
  /** [chunk] int64 */
  readonly targets: Value;
  /** log p, [chunk, V] */
  readonly all: Value;
  /** p, [chunk, V] */
  readonly probabilities: () => Value;
  /** [chunk] */
  readonly logprob: Value;
  /** [chunk] */
  readonly entropy: () => Value;
}

function rowsOfTurn(body: Graph, turn: Value, chunk: Value, from: Value): Value {
  const start = body.node("Mul", [turn, chunk], [1], { dtype: "int64" });
  const end = body.node("Add", [start, chunk], [1], { dtype: "int64" });
  return body.node("Slice", [from, start, end, body.integers(0)], ["c", ...from.shape.slice(1)], {
    dtype: from.dtype,
  });
}

function chunkOf(body: Graph, turn: Value, inputs: HeadInputs, padded: Value): Chunk {
  const { matrix, chunk, biases } = inputs;
  const V = matrix.shape[0]!;
  const hidden = rowsOfTurn(body, turn, chunk, padded);
  const targets = rowsOfTurn(body, turn, chunk, inputs.targets);
  let logits = productIn(body, hidden, matrix, { transposeB: true });
  if (biases !== undefined) {
    const of = rowsOfTurn(body, turn, chunk, biases.of);
    const own = body.node("Gather", [biases.rows, of], ["c", V], { attributes: { axis: 0 } });
    logits = body.node("Add", [logits, own], ["c", V]);
  }
  const all = logSoftmax(body, logits);
  const column = body.node("Unsqueeze", [targets, body.integers(1)], ["c", 1], { dtype: "int64" });
  const picked = body.node("GatherElements", [all, column], ["c", 1], { attributes: { axis: 1 } });
  const logprob = body.node("Squeeze", [picked, body.integers(1)], ["c"]);
  let known: Value | undefined;
  const probabilities = (): Value => (known ??= body.node("Exp", [all], ["c", V]));
  let knownEntropy: Value | undefined;
  const entropy = (): Value => {
    if (knownEntropy !== undefined) return knownEntropy;
    const parts = body.node("Mul", [probabilities(), all], ["c", V]);
    const total = body.node("ReduceSum", [parts, body.integers(1)], ["c"], {
      attributes: { keepdims: 0 },
    });
    knownEntropy = body.node("Neg", [total], ["c"]);
    return knownEntropy;
  };
  return { hidden, targets, all, probabilities, logprob, entropy };
}

/** Over the last axis of [c, V]. */
function logSoftmax(body: Graph, logits: Value): Value {
  const { shape } = logits;
  if (body.operators === "fused") {
    return body.node("LogSoftmax", [logits], shape, { attributes: { axis: -1 } });
  }
  // WebGPU has none, and would wait for the CPU.
  const reduced = [shape[0]!, 1];
  const peak = body.node("ReduceMax", [logits], reduced, {
    attributes: { axes: [-1], keepdims: 1 },
  });
  const shifted = body.node("Sub", [logits, peak], shape);
  const total = body.node(
    "ReduceSum",
    [body.node("Exp", [shifted], shape), body.integers(-1)],
    reduced,
    { attributes: { keepdims: 1 } },
  );
  return body.node("Sub", [shifted, body.node("Log", [total], reduced)], shape);
}

/** -p (log p + entropy), [chunk, V] */
function entropyGradient(body: Graph, { all, probabilities, entropy }: Chunk): Value {
  const { shape } = all;
  const column = body.node("Unsqueeze", [entropy(), body.integers(1)], ["c", 1]);
  const gradient = body.node(
    "Mul",
    [probabilities(), body.node("Add", [all, column], shape)],
    shape,
  );
  return body.node("Neg", [gradient], shape);
}

/** J of the chunk's rows, [chunk, H]. */
function jacobian(body: Graph, part: Chunk, matrix: Value, quantity: HeadQuantity): Value {
  const shape = part.hidden.shape;
  const times = (left: Value): Value => productIn(body, left, matrix);
  if (quantity === "entropy") return times(entropyGradient(body, part));
  const expected = times(part.probabilities());
  const own = body.node("Gather", [matrix, part.targets], shape, { attributes: { axis: 0 } });
  return body.node("Sub", [own, expected], shape);
}

/** Sum over rows of g dz^T h, [V, H]. `column`: the rows' gradients g, [R, 1]. */
function matrixGradient(
  inputs: HeadInputs,
  padded: Value,
  column: Value,
  quantity: HeadQuantity,
): Value {
  const { hidden, matrix, targets, chunks, chunk } = inputs;
  const { graph } = hidden;
  const { shape } = matrix;
  const zeros = graph.node("Expand", [graph.scalar(0), runtimeShape(matrix)], shape);
  const scaled = padRows({ ...inputs, hidden: multiply(column, detach(hidden)) });
  const { carried } = graph.loop(chunks, [zeros], (body, turn, [sum]) => {
    const part = chunkOf(body, turn, inputs, padded);
    const gradient = quantity === "logprob" ? part.probabilities() : entropyGradient(body, part);
    const product = productIn(body, gradient, rowsOfTurn(body, turn, chunk, scaled), {
      transposeA: true,
    });
    return { carried: [body.node("Add", [sum!, product], shape)], stacked: [] };
  });
  if (quantity === "entropy") return carried[0]!;
  const ids = graph.node("Unsqueeze", [targets, graph.integers(1)], ["padded", 1], {
    dtype: "int64",
  });
  const wide = graph.node("Expand", [ids, runtimeShape(scaled)], scaled.shape, { dtype: "int64" });
  return graph.node("ScatterElements", [negate(carried[0]!), wide, scaled], shape, {
    attributes: { axis: 0, reduction: "add" },
  });
}
