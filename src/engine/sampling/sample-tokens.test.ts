import { describe, expect, it } from "vitest";
import { createNormal, createRandom } from "../../util/random.ts";
import { Graph } from "../graph/graph.ts";
import { createSession } from "../runtime.ts";
import { blockSizeOf, sampleTokens } from "./sample-tokens.ts";
import { sampleToken } from "./sample-token.ts";

const plain = { temperature: 1, topK: 0, topP: 1, minP: 0 };

async function sample(
  rows: readonly Float32Array[],
  uniforms: readonly number[],
  blockSize: number,
): Promise<{ readonly tokens: Float32Array; readonly probabilities: Float32Array }> {
  const V = rows[0]!.length;
  const graph = new Graph();
  const probabilities = graph.input("probabilities", "float32", ["R", V]);
  const sampled = sampleTokens(probabilities, graph.input("uniforms", "float64", ["R"]), blockSize);
  graph.output("tokens", sampled.tokens);
  graph.output("sampled_probabilities", sampled.probabilities);
  const session = await createSession(graph.encode(), { threads: 2 });
  const data = new Float32Array(rows.length * V);
  for (const [r, row] of rows.entries()) data.set(row, r * V);
  const outputs = await session.run({
    probabilities: { data, shape: [rows.length, V] },
    uniforms: { data: Float64Array.from(uniforms), shape: [rows.length] },
  });
  await session.close();
  return { tokens: outputs["tokens"]!, probabilities: outputs["sampled_probabilities"]! };
}

/** Softmax of normal numbers: `sharpness` 0 is uniform. */
function distribution(V: number, sharpness: number, random: () => number): Float32Array {
  const normal = createNormal(random);
  const masses = Array.from({ length: V }, () => Math.exp(sharpness * normal()));
  const total = masses.reduce((sum, mass) => sum + mass, 0);
  return Float32Array.from(masses, (mass) => mass / total);
}

describe("drawTokens", () => {
  it.each([
    [49152, 256],
    [151936, 128],
  ])("draws from %i tokens what pickToken draws", async (V, blockSize) => {
    expect(blockSizeOf(V)).toBe(blockSize);
    const random = createRandom(3);
    const rows = [0, 1, 3, 8].flatMap((sharpness) =>
      Array.from({ length: 4 }, () => distribution(V, sharpness, random)),
    );
    let same = 0;
    let count = 0;
    for (let turn = 0; turn < 20; turn++) {
      const uniforms = rows.map(() => random());
      const { tokens, probabilities } = await sample(rows, uniforms, blockSize);
      for (const [r, row] of rows.entries()) {
        expect(probabilities[r]).toBe(row[tokens[r]!]);
        expect(probabilities[r]).toBeGreaterThan(0);
        const { token } = sampleToken(row, plain, uniforms[r]!);
        // Sums differ in their last bits, so a draw may fall on the neighbour.
        expect(Math.abs(token - tokens[r]!)).toBeLessThan(20);
        same += Number(token === tokens[r]);
        count += 1;
      }
    }
    expect(same / count).toBeGreaterThan(0.99);
  });

  it("never draws a token without mass, at the borders neither", async () => {
    const V = 8192;
    const only = (...ids: number[]): Float32Array => {
      const row = new Float32Array(V);
      for (const id of ids) row[id] = 1 / ids.length;
      return row;
    };
    const rows = [only(0), only(V - 1), only(255, 256), only(255, 256), only(5, 4000), only(300)];
    const uniforms = [1 - 2 ** -32, 1 - 2 ** -32, 0.5 - 2 ** -32, 0.5, 0, 0];
    const { tokens, probabilities } = await sample(rows, uniforms, 256);
    expect([...tokens]).toEqual([0, V - 1, 255, 256, 5, 300]);
    expect([...probabilities]).toEqual([1, 1, 0.5, 0.5, 0.5, 1]);
  });

  it("leaves small vocabularies, and such that fall into no blocks, to others", () => {
    expect([512, 8191, 32_000, 49_153].map(blockSizeOf)).toEqual([null, null, 256, null]);
  });
});
