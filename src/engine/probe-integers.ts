/**
 * Which products of 8-bit integers this machine's runtime computes exactly. Kernels for processors
 * without dot products of bytes add pairs in 16 bits, where signed matrices saturate.
 */
import { Graph, type Value } from "./graph/graph.ts";
import { zeroPoint, type IntegerKernel } from "./graph/integer-product.ts";
import { createSession } from "./runtime.ts";

/** Preferred first: the fastest on processors with dot products of bytes. */
const kernels: readonly IntegerKernel[] = ["int8", "uint8"];

/** Different numbers of rows take different kernels, as do widths that are no multiple of a block. */
const rowCounts = [1, 2, 5, 33];
const [inputs, outputs] = [203, 67];

let found: Promise<IntegerKernel | null> | undefined;

/**
 * Two products take less time than one of 32-bit floats, however many rows there are. Signed matrices are exact only
 * where the processor has dot products of bytes; without them, two products of 32 rows take a sixth longer than one
 * of floats.
 */
export function isFast(kernel: IntegerKernel): boolean {
  return kernel === "int8";
}

/** null: none is exact, so products of frozen matrices stay in 32-bit floats. */
export function exactIntegerKernel(): Promise<IntegerKernel | null> {
  found ??= findKernel();
  return found;
}

async function findKernel(): Promise<IntegerKernel | null> {
  for (const kernel of kernels) if (await isExact(kernel).catch(() => false)) return kernel;
  return null;
}

/** A column and a row of extremes, then all values in turn. */
const integerAt = (k: number, column: number): number =>
  column < 2 ? (column === 0 ? 127 : -127) : ((k * 31 + column * 17) % 255) - 127;
const codeAt = (row: number, k: number): number =>
  row < 2 ? (row === 0 ? 255 : 1) : (row * 29 + k * 13) % 256;

/** Every element of products with `kernel`, compared with exact sums. */
export async function isExact(kernel: IntegerKernel): Promise<boolean> {
  const graph = new Graph();
  const shift = kernel === "uint8" ? zeroPoint : 0;
  const bytes = Uint8Array.from(
    { length: inputs * outputs },
    (_, i) => integerAt(Math.floor(i / outputs), i % outputs) + shift,
  );
  const matrix = graph.constant(kernel, [inputs, outputs], bytes);
  const rows = graph.input("rows", "float32", ["N", inputs]);
  // Codes as they are: no scale, and the same zero.
  const codes = graph.node(
    "QuantizeLinear",
    [rows, graph.scalar(1), graph.byte(zeroPoint)],
    ["N", inputs],
    { dtype: "uint8" },
  );
  const zero = graph.byte(zeroPoint);
  const factors: readonly Value[] = [codes, matrix, graph.scalar(1), graph.scalar(1), zero];
  const product = graph.node(
    "MatMulIntegerToFloat",
    kernel === "uint8" ? [...factors, zero] : factors,
    ["N", outputs],
    { domain: "com.microsoft" },
  );
  graph.output("product", product);
  const session = await createSession(graph.encode(), { threads: 2 });
  try {
    for (const count of rowCounts) if (!(await isExactFor(count, session))) return false;
    return true;
  } finally {
    await session.close();
  }
}

async function isExactFor(
  count: number,
  session: Awaited<ReturnType<typeof createSession>>,
): Promise<boolean> {
  const data = Float32Array.from(
    { length: count * inputs },
    (_, i) => codeAt(Math.floor(i / inputs), i % inputs) - zeroPoint,
  );
  const { product } = await session.run({ rows: { data, shape: [count, inputs] } });
  for (let row = 0; row < count; row++) {
    for (let column = 0; column < outputs; column++) {
      let sum = 0;
      for (let k = 0; k < inputs; k++) sum += (codeAt(row, k) - zeroPoint) * integerAt(k, column);
      if (sum !== product![row * outputs + column]) return false;
    }
  }
  return true;
}
