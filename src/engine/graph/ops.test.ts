import { describe, expect, it } from "vitest";
import type { Tensor } from "../runtime.ts";
import { gradientError } from "../../../test/engine/check-gradients.ts";
import type { GradientCheck } from "../../../test/engine/check-gradients.ts";
import {
  embed,
  rmsNorm,
  rotary,
  rotaryTables,
  silu,
  takeRows,
  targetLogprobs,
} from "./model-ops.ts";
import {
  add,
  clip,
  exp,
  matmul,
  minimum,
  multiply,
  negate,
  reshape,
  scale,
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
  reshape: { shapes: [[3, 4]], build: ([a]) => reshape(a!, [2, 6]) },
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
  takeRows: {
    shapes: [[5, 3]],
    fixed: { rows: ids(4, 0, 2) },
    build: ([x], { rows }) => takeRows(x!, rows!),
  },
  targetLogprobs: {
    shapes: [[4, 6]],
    fixed: { targets: ids(0, 5, 3, 3) },
    build: ([logits], { targets }) =>
      targetLogprobs({ ...logits!, shape: ["targets_rows", 6] }, targets!),
  },
};

for (const transposeA of [false, true]) {
  for (const transposeB of [false, true]) {
    checks[`matmul${transposeA ? ", A transposed" : ""}${transposeB ? ", B transposed" : ""}`] = {
      shapes: [transposeA ? [2, 4, 3] : [2, 3, 4], transposeB ? [2, 5, 4] : [2, 4, 5]],
      build: ([a, b]) => matmul(a!, b!, { transposeA, transposeB, alpha: 0.7 }),
    };
  }
}

describe("gradients equal finite differences", () => {
  for (const [name, check] of Object.entries(checks)) {
    it(name, async () => {
      expect(await gradientError(check)).toBeLessThan(2e-3);
    });
  }
});

it("refuses shapes that do not broadcast", async () => {
  await expect(
    gradientError({ shapes: [[3], [4]], build: ([a, b]) => add(a!, b!) }),
  ).rejects.toThrow("do not broadcast");
});
