import { describe, expect, it } from "vitest";
import { createSession, type Tensor } from "../runtime.ts";
import { Graph } from "./graph.ts";
import { gradientError, type GradientCheck } from "../../../test/engine/check-gradients.ts";
import { headValues, type HeadQuantity } from "./chunked-head.ts";
import { embed, permuteRows, rmsNorm, rotary, rotaryTables, silu, takeRows } from "./model-ops.ts";
import { atSegments, segmentMean, segmentSum } from "./segment-ops.ts";
import {
  add,
  addProduct,
  clip,
  concatInner,
  exp,
  isNegative,
  matmul,
  minimum,
  multiply,
  negate,
  reshape,
  scale,
  select,
  sigmoid,
  softmax,
  subtract,
  sum,
  transpose,
} from "./ops.ts";

const ids = (...values: number[]): Tensor => ({
  data: BigInt64Array.from(values, BigInt),
  shape: [values.length],
});

/** Away from the kinks of piecewise functions, where no derivative exists. */
const awayFromHalf = (_: number, size: number, normal: () => number): Float32Array =>
  Float32Array.from({ length: size }, () => {
    const x = normal();
    return Math.abs(Math.abs(x) - 0.5) < 0.05 ? x + 0.2 : x;
  });

const checks: Record<string, GradientCheck> = {
  add: {
    shapes: [
      [3, 4],
      [3, 4],
    ],
    build: ([a, b]) => add(a!, b!),
  },
  "add, broadcast in front and inside": {
    shapes: [
      [2, 3, 4],
      [3, 1],
    ],
    build: ([a, b]) => add(a!, b!),
  },
  subtract: { shapes: [[3, 4], [4]], build: ([a, b]) => subtract(a!, b!) },
  multiply: {
    shapes: [
      [3, 4],
      [3, 4],
    ],
    build: ([a, b]) => multiply(a!, b!),
  },
  "multiply, broadcast": { shapes: [[3, 4], [4]], build: ([a, b]) => multiply(a!, b!) },
  "multiply by itself": { shapes: [[3, 4]], build: ([a]) => multiply(a!, a!) },
  negate: { shapes: [[5]], build: ([a]) => negate(a!) },
  scale: { shapes: [[5]], build: ([a]) => scale(a!, -2.5) },
  exp: { shapes: [[5]], build: ([a]) => exp(a!) },
  sum: { shapes: [[3, 4]], build: ([a]) => reshape(sum(a!), [1]) },
  minimum: { shapes: [[20], [20]], build: ([a, b]) => minimum(a!, b!) },
  clip: { shapes: [[40]], values: awayFromHalf, build: ([a]) => clip(a!, -0.5, 0.5) },
  sigmoid: { shapes: [[5]], build: ([a]) => sigmoid(a!) },
  select: {
    shapes: [[20], [20]],
    values: awayFromHalf,
    build: ([a, b]) => select(isNegative(add(a!, a!.graph.scalar(0.5))), a!, b!),
  },
  "select, scalars": {
    shapes: [[], []],
    fixed: { signs: { data: Float32Array.of(-1, 2, -3), shape: [3] } },
    build: ([a, b], { signs }) => select(isNegative(signs!), a!, b!),
  },
  segmentSum: {
    shapes: [[5], [3]],
    fixed: { segments: ids(0, 2, 2, 0, 1) },
    build: ([x, y], { segments }) => multiply(segmentSum(x!, segments!, y!), y!),
  },
  atSegments: {
    shapes: [[3]],
    fixed: { segments: ids(0, 2, 2, 0, 1) },
    build: ([x], { segments }) => atSegments(x!, segments!),
  },
  segmentMean: {
    shapes: [[5]],
    fixed: {
      segments: ids(0, 2, 2, 0, 1),
      shares: { data: Float32Array.of(0.5, 1, 0.5), shape: [3] },
    },
    build: ([x], { segments, shares }) => segmentMean(x!, segments!, shares!),
  },
  reshape: { shapes: [[3, 4]], build: ([a]) => reshape(a!, [2, 6]) },
  concatInner: {
    shapes: [
      [2, 3, 2],
      [2, 1, 2],
    ],
    build: ([a, b]) => concatInner(a!, b!, 4),
  },
  transpose: { shapes: [[2, 3, 4]], build: ([a]) => transpose(a!, [2, 0, 1]) },
  softmax: { shapes: [[3, 5]], build: ([a]) => softmax(a!) },
  silu: { shapes: [[3, 5]], build: ([a]) => silu(a!) },
  rmsNorm: { shapes: [[3, 8], [8]], build: ([x, w]) => rmsNorm(x!, w!, 1e-5) },
  rotary: {
    shapes: [[2, 3, 8]],
    fixed: { positions: { data: BigInt64Array.from([0n, 1n, 2n, 3n, 4n, 5n]), shape: [2, 3] } },
    build: ([x], { positions }, graph) => rotary(x!, positions!, rotaryTables(graph, 8, [1, 0.3])),
  },
  "embed, with a repeated id": {
    shapes: [[5, 3]],
    fixed: { ids: ids(1, 4, 1, 0) },
    build: ([table], fixed) => embed(table!, fixed["ids"]!),
  },
  "permuteRows, with a row of zeros and one left out": {
    shapes: [[4, 3]],
    fixed: { sources: ids(3, 4, 0, 1, 4), targets: ids(2, 3, 5, 0) },
    build: ([x], { sources, targets }) => permuteRows(x!, sources!, targets!),
  },
  takeRows: {
    shapes: [[5, 3]],
    fixed: { rows: ids(4, 0, 2) },
    build: ([x], { rows }) => takeRows(x!, rows!),
  },
};

const headInput = (chunks: number, chunk: number, targets: readonly number[]) => ({
  rows: ids(0, 1, 2, 3, 4),
  targets: ids(...targets, ...Array.from({ length: chunks * chunk - targets.length }, () => 0)),
  chunk: ids(chunk),
  chunks: ids(chunks),
});
const head =
  (quantity: HeadQuantity): GradientCheck["build"] =>
  ([h, matrix], fixed, graph) =>
    headValues(
      {
        hidden: takeRows(h!, fixed["rows"]!),
        matrix: matrix!,
        targets: fixed["targets"]!,
        chunk: fixed["chunk"]!,
        chunks: graph.node("Squeeze", [fixed["chunks"]!], [], { dtype: "int64" }),
      },
      quantity,
    );
// Five rows at once, evenly cut, and with padding behind the last.
for (const [chunks, chunk] of [
  [1, 5],
  [5, 1],
  [3, 2],
] as const) {
  for (const quantity of ["logprob", "entropy"] as const) {
    checks[`head, ${quantity}, ${chunks} chunks of ${chunk}`] = {
      shapes: [
        [5, 3],
        [7, 3],
      ],
      fixed: headInput(chunks, chunk, [0, 6, 3, 3, 1]),
      build: head(quantity),
    };
  }
}

checks["addProduct"] = {
  shapes: [
    [3, 5],
    [3, 4],
    [5, 4],
  ],
  build: ([c, a, b]) => addProduct(c!, a!, b!, 0.7),
};

for (const transposeA of [false, true]) {
  for (const transposeB of [false, true]) {
    checks[`matmul${transposeA ? ", A transposed" : ""}${transposeB ? ", B transposed" : ""}`] = {
      shapes: [transposeA ? [2, 4, 3] : [2, 3, 4], transposeB ? [2, 5, 4] : [2, 4, 5]],
      build: ([a, b]) => matmul(a!, b!, { transposeA, transposeB, alpha: 0.7 }),
    };
  }
}

describe.each(["fused", "standard"] as const)("gradients, %s operators", (operators) => {
  it.each(Object.entries(checks))("%s", async (_, check) => {
    expect(await gradientError(check, operators)).toBeLessThan(2e-3);
  });
});

it("refuses shapes that do not broadcast", async () => {
  await expect(
    gradientError({ shapes: [[3], [4]], build: ([a, b]) => add(a!, b!) }),
  ).rejects.toThrow("do not broadcast");
});

it("gives the entropy of a distribution", async () => {
  const graph = new Graph();
  const names = ["rows", "targets", "chunk", "chunks"] as const;
  const fixed = Object.fromEntries(
    names.map((name) => [name, graph.input(name, "int64", [`${name}_rows`])]),
  );
  // Published values: logits [2, 1, 0.1, -1], and a uniform distribution over 4.
  const hidden = graph.input("h", "float32", [2, 1]);
  const matrix = graph.input("w", "float32", [4, 1]);
  graph.output("entropy", head("entropy")([hidden, matrix], fixed, graph));
  const session = await createSession(graph.encode(), { threads: 1 });
  const { entropy } = await session.run({
    ...headInput(1, 2, [0, 0]),
    rows: ids(0, 1),
    h: { data: Float32Array.of(1, 0), shape: [2, 1] },
    w: { data: Float32Array.of(2, 1, 0.1, -1), shape: [4, 1] },
  });
  expect(entropy![0]).toBeCloseTo(0.960673, 5);
  expect(entropy![1]).toBeCloseTo(1.386294, 5);
  await session.close();
});
