/** How fast the runtime multiplies matrices in this process, at this moment: what training is measured against. */
import { bytesOf, Graph, type Value } from "../../src/engine/graph/graph.ts";
import { matmul } from "../../src/engine/graph/ops.ts";
import { createSession } from "../../src/engine/runtime.ts";
import { defaultThreads } from "../engine/models.ts";

/** Shapes of the largest products of a SmolLM2-135M layer, there and back, 1024 rows. */
const rows = 1024;
const narrow = 576;
const wide = 1536;
const rounds = 20;

/** Billions of floating-point operations per second: the best of four runs. */
export async function matmulPeak(): Promise<{ gflops: number }> {
  const graph = new Graph();
  // Numbers stay as they are, neither growing nor becoming denormal: weights are averages.
  const weight = (out: number, into: number): Value =>
    graph.constant("float32", [out, into], bytesOf(new Float32Array(out * into).fill(1 / into)));
  const up = weight(wide, narrow);
  const down = weight(narrow, wide);
  let x = graph.input("x", "float32", [rows, narrow]);
  const feed = { x: { data: new Float32Array(rows * narrow).fill(0.5), shape: [rows, narrow] } };
  for (let i = 0; i < rounds; i++)
    x = matmul(matmul(x, up, { transposeB: true }), down, { transposeB: true });
  graph.output("y", x);
  const session = await createSession(graph.encode(), { threads: defaultThreads() });
  let best = Infinity;
  for (let i = 0; i < 4; i++) {
    const start = performance.now();
    await session.run(feed);
    best = Math.min(best, performance.now() - start);
  }
  await session.close();
  return { gflops: (2 * rows * narrow * wide * 2 * rounds) / best / 1e6 };
}
