import { describe, expect, it } from "vitest";
import { createNormal, createRandom } from "../../util/random.ts";
import { Graph } from "../graph/graph.ts";
import { createSession } from "../runtime.ts";
import { declareQuantizedMatrix, quantizeMatrix } from "./quantized-matrix.ts";

const outputs = 5;
// One full block of inputs, and one that is half empty.
const inputs = 48;
const normal = createNormal(createRandom(3));
const weights = Float32Array.from({ length: outputs * inputs }, normal);

describe("quantizeMatrix", () => {
  it("keeps every weight within half a step of its block", () => {
    const { values, scales } = quantizeMatrix(weights, [outputs, inputs]);
    for (let o = 0; o < outputs; o++) {
      for (let i = 0; i < inputs; i++) {
        const block = o * 2 + Math.floor(i / 32);
        const restored = (values[block * 32 + (i % 32)]! - 128) * scales[block]!;
        const error = Math.abs(restored - weights[o * inputs + i]!);
        expect(error).toBeLessThanOrEqual(scales[block]! * 0.5001);
      }
    }
    // The largest of a block is met exactly.
    const first = Math.max(...weights.subarray(0, 32).map(Math.abs));
    expect(scales[0]! * 127).toBeCloseTo(first, 6);
  });

  it("takes a block of zeros", () => {
    const { values, scales } = quantizeMatrix(new Float32Array(32), [1, 32]);
    expect([...scales]).toEqual([0]);
    expect(new Set(values)).toEqual(new Set([128]));
  });

  it("multiplies in the runtime as its definition says", async () => {
    const graph = new Graph();
    const x = graph.input("x", "float32", ["N", inputs]);
    const quantized = quantizeMatrix(weights, [outputs, inputs]);
    graph.output("y", declareQuantizedMatrix(graph, quantized).times(x));
    const session = await createSession(graph.encode(), { threads: 1 });
    const rows = 3;
    const data = Float32Array.from({ length: rows * inputs }, normal);
    const { y } = await session.run({ x: { data, shape: [rows, inputs] } });
    await session.close();
    for (let r = 0; r < rows; r++) {
      for (let o = 0; o < outputs; o++) {
        let exact = 0;
        for (let i = 0; i < inputs; i++) exact += data[r * inputs + i]! * weights[o * inputs + i]!;
        // Sums of 48 products of size 1, each off by about half a per cent.
        expect(Math.abs(y![r * outputs + o]! - exact)).toBeLessThan(0.15);
      }
    }
  });
});
