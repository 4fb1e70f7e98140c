/** Whether an execution provider works on this machine: a small graph, held to numbers known beforehand. */
import { matmul } from "./graph/ops.ts";
import { Graph } from "./graph/graph.ts";
import { createSession } from "./runtime.ts";

/** Rows, inner size and columns of the product. */
const [rows, inner, columns] = [4, 8, 3];

/** Runs a matrix product. @throws whatever the provider says, or Error for wrong numbers. */
export async function probeProvider(provider: string): Promise<{ readonly ms: number }> {
  const graph = new Graph();
  const a = graph.input("a", "float32", [rows, inner]);
  const b = graph.input("b", "float32", [inner, columns]);
  graph.output("product", matmul(a, b));
  const start = performance.now();
  const session = await createSession(graph.encode(), { threads: 1, provider });
  try {
    const { product } = await session.run({
      a: {
        data: Float32Array.from({ length: rows * inner }, (_, i) => i % 5),
        shape: [rows, inner],
      },
      b: {
        data: Float32Array.from({ length: inner * columns }, (_, i) => i % 7),
        shape: [inner, columns],
      },
    });
    const expected = Float32Array.from({ length: rows * columns }, (_, i) => {
      const [row, column] = [Math.floor(i / columns), i % columns];
      let sum = 0;
      for (let k = 0; k < inner; k++) sum += ((row * inner + k) % 5) * ((k * columns + column) % 7);
      return sum;
    });
    const differs = expected.some((value, i) => Math.abs(value - (product?.[i] ?? NaN)) > 1e-3);
    if (differs)
      throw new Error(`it computed ${product?.join()} where ${expected.join()} is right`);
    return { ms: performance.now() - start };
  } finally {
    await session.close();
  }
}
