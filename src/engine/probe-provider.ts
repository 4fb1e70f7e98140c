/**
 * Whether an execution provider works on this machine: a product that it must compute itself, checked against
 * known numbers, then a small policy, parts of which may run on the CPU.
 */
import { matmul } from "./graph/ops.ts";
import { Graph } from "./graph/graph.ts";
import { policyDifference } from "./probe-policy.ts";
import { operatorsFor, providers, type Provider } from "./provider.ts";
import { createSession } from "./runtime.ts";

/** Rows, inner size and columns of the product. */
const [rows, inner, columns] = [4, 8, 3];

/** Reduced precision within 32-bit products (TF32) stays far below, wrong kernels are far above. */
const largestDifference = 0.02;
/** Factors of products rounded to bf16. */
const largestDifferenceInBf16 = 0.06;

/** @throws the provider's error, or Error for wrong numbers. */
export async function probeProvider(provider: string): Promise<{ readonly ms: number }> {
  const start = performance.now();
  await probeProduct(provider);
  if (provider === "cpu-bf16") await probeRounding();
  if (isChoosable(provider)) await probePolicy(provider);
  return { ms: performance.now() - start };
}

function isChoosable(provider: string): provider is Provider {
  return providers.some((name) => name === provider);
}

async function probePolicy(provider: Provider): Promise<void> {
  const { name, relative } = await policyDifference(provider);
  if (relative <= (provider === "cpu-bf16" ? largestDifferenceInBf16 : largestDifference)) return;
  throw new Error(
    `a small model's ${name} differs from the processor's by ${(100 * relative).toPrecision(2)} %`,
  );
}

/** The runtime computes in 32-bit floats as before where a processor lacks the instructions. */
async function probeRounding(): Promise<void> {
  const [exact, rounded] = await Promise.all(["cpu", "cpu-bf16"].map(productOfThirds));
  if (exact === rounded)
    throw new Error(
      "the processor has no bf16 instructions, so that products stay in 32-bit floats",
    );
}

/** An element of a product whose factors have more digits than bf16. */
async function productOfThirds(provider: string): Promise<number> {
  const size = 64;
  const graph = new Graph();
  const a = graph.input("a", "float32", [size, size]);
  const b = graph.input("b", "float32", [size, size]);
  graph.output("product", matmul(a, b));
  const session = await createSession(graph.encode(), { threads: 1, provider });
  try {
    const thirds = { data: new Float32Array(size * size).fill(1 / 3), shape: [size, size] };
    return (await session.run({ a: thirds, b: thirds }))["product"]![0]!;
  } finally {
    await session.close();
  }
}

async function probeProduct(provider: string): Promise<void> {
  const graph = new Graph({ operators: operatorsFor(provider) });
  const a = graph.input("a", "float32", [rows, inner]);
  const b = graph.input("b", "float32", [inner, columns]);
  graph.output("product", matmul(a, b));
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
  } finally {
    await session.close();
  }
}
