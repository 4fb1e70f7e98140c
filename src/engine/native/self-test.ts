/**
 * Whether an instruction set computes what it should on this machine: products of small integers, which are exact in
 * every format. It speaks to the kernels directly, since it decides which of them tensors use.
 */
import type { InstructionSet, Native, NativeMemory } from "./native.ts";

// Of every kind of tile, also those that are cut off.
const [rows, depth, columns] = [39, 34, 70];
const panelBytes = 4 * depth * 128;
const narrowBytes = 2 * 48 * 64;
const formats = { f32: 0, bf16: 1 } as const;

/** @returns what is wrong, or null */
export function selfTest(native: Native, set: InstructionSet): string | null {
  const memories: NativeMemory[] = [];
  const numbers = (count: number): { address: number; data: Float32Array } => {
    const memory = native.allocate(4 * count);
    if (memory === null) throw new Error("Out of memory.");
    memories.push(memory);
    const { address, buffer, byteOffset } = memory;
    return { address, data: new Float32Array(buffer as ArrayBuffer, byteOffset, count) };
  };
  const run = (...commands: readonly (readonly [string, readonly number[]])[]): void => {
    const program = commands.flatMap(([name, values]) => [
      set.operations.findIndex((operation) => operation.name === name),
      ...values,
    ]);
    native.runNow(set.id, Float64Array.from(program), program.length, 1);
  };
  try {
    const x = numbers(rows * depth);
    const weights = numbers(columns * depth);
    const result = numbers(rows * columns);
    const [panels, narrowed, scratch] = [panelBytes, narrowBytes, panelBytes].map(
      (bytes) => numbers(bytes / 4).address,
    ) as [number, number, number];
    for (const [i] of x.data.entries()) x.data[i] = ((i * 37) % 31) - 15;
    for (const [i] of weights.data.entries()) weights.data[i] = ((i * 53) % 61) - 30;
    for (const [name, format] of Object.entries(formats)) {
      const matrix = [panels, format] as const;
      const none = [0, 0, 0, 0, 0, 0, 0];
      run(
        [
          "pack",
          [weights.address, 0, columns, depth, depth, 0, ...matrix, depth, columns, 0, 0, 1],
        ],
        [
          "product",
          [
            ...[rows, columns, result.address, columns, 0, 0, 0, format, scratch],
            ...[x.address, depth, depth, panels, depth, format, narrowed],
            ...none,
          ],
        ],
      );
      const wrong = firstWrong(x.data, weights.data, result.data);
      if (wrong !== null) return `a product of ${name} gave ${wrong}`;
    }
    return null;
  } catch (error) {
    return (error as Error).message;
  } finally {
    for (const memory of memories) native.release(memory);
  }
}

function firstWrong(x: Float32Array, weights: Float32Array, result: Float32Array): string | null {
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      let expected = 0;
      for (let k = 0; k < depth; k++) expected += x[i * depth + k]! * weights[j * depth + k]!;
      const found = result[i * columns + j];
      if (found !== expected) return `${found} in place of ${expected}`;
    }
  }
  return null;
}
