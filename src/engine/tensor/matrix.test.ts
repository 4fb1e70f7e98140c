import { describe, expect, it } from "vitest";
import { createRandom } from "../../util/random.ts";
import { loadNative } from "../native/load-native.ts";
import { Device } from "./device.ts";
import {
  newMatrix,
  pack,
  product,
  transpose,
  type Matrix,
  type MatrixFormat,
  type PackOptions,
  type Precision,
} from "./matrix.ts";
import { Program } from "./program.ts";
import { newTensor, type Tensor, tensorOf } from "./tensor.ts";

function fill(tensor: Tensor, random: () => number): void {
  for (let r = 0; r < tensor.rows; r++) {
    const row = tensor.row(r);
    for (let i = 0; i < row.length; i++) row[i] = 2 * random() - 1;
  }
}
/** To the nearest number of 8 bits of mantissa. */
function rounded(x: number): number {
  const bits = new Uint32Array(Float32Array.of(x).buffer);
  bits[0] = (bits[0]! + 0x7fff + ((bits[0]! >>> 16) & 1)) & 0xffff0000;
  return new Float32Array(bits.buffer)[0]!;
}

/** Whose products of bf16 have sums in an order of their own. */
const tiled = "amx_bf16";

const shapes = [
  [1, 2, 1],
  [3, 16, 5],
  [7, 30, 64],
  [13, 66, 100],
  [100, 34, 200],
  [4, 51, 20],
  [40, 51, 70],
  [200, 128, 130],
] as const;

describe.each(loadNative().instructionSets.map(({ name }) => name))(
  "products with %s",
  (instructionSet) => {
    const device = new Device({ threads: 2, instructionSet });
    const run = (
      rows: number,
      depth: number,
      columns: number,
      format: MatrixFormat,
      precision: Precision,
    ) => {
      const random = createRandom(rows * 1000 + depth);
      const [x, weights, result] = [
        newTensor(device, rows, depth),
        newTensor(device, columns, depth),
        newTensor(device, rows, columns),
      ];
      for (const tensor of [x, weights]) fill(tensor, random);
      const matrix = newMatrix(device, depth, columns, format);
      const program = new Program(device);
      pack(program, weights, matrix);
      product(program, x, matrix, result, { precision });
      program.runNow();
      return { x, weights, result };
    };

    it.each(shapes)("equal sums in doubles: %i x %i x %i", (rows, depth, columns) => {
      for (const [format, precision] of [
        ["f32", "f32"],
        ["bf16", "f32"],
        ["bf16", "bf16"],
      ] as const) {
        const { x, weights, result } = run(rows, depth, columns, format, precision);
        let worst = 0;
        const numbers = (row: Float32Array, isNarrow: boolean): Float32Array =>
          isNarrow ? row.map(rounded) : row;
        const weightRows = Array.from({ length: columns }, (_, j) =>
          numbers(weights.row(j), format === "bf16"),
        );
        for (let i = 0; i < rows; i++) {
          const own = numbers(x.row(i), precision === "bf16");
          const found = result.row(i);
          for (let j = 0; j < columns; j++) {
            let expected = 0;
            for (let k = 0; k < depth; k++) expected += own[k]! * weightRows[j]![k]!;
            worst = Math.max(worst, Math.abs(found[j]! - expected));
          }
        }
        expect(worst).toBeLessThan(1e-6 * Math.sqrt(depth) * 4);
      }
    });
  },
);

it("computes products of bf16 with the same bits on every instruction set without tiles", () => {
  const all = loadNative().instructionSets.filter(({ name }) => !["sse2", tiled].includes(name));
  const bits = all.map(({ name: instructionSet }) => {
    const device = new Device({ threads: 1, instructionSet });
    const random = createRandom(5);
    const [x, weights, result] = [
      newTensor(device, 9, 200),
      newTensor(device, 70, 200),
      newTensor(device, 9, 70),
    ];
    for (const tensor of [x, weights]) fill(tensor, random);
    const matrix = newMatrix(device, 200, 70, "bf16");
    const program = new Program(device);
    pack(program, weights, matrix);
    product(program, x, matrix, result, { precision: "bf16" });
    program.runNow();
    return [...result.data];
  });
  for (const other of bits) expect(other).toEqual(bits[0]);
});

describe.runIf(loadNative().instructionSets.some(({ name }) => name === tiled))(
  "products in tiles",
  () => {
    /** Even depths, odd depths, both together, then onto the sum: 32 depths at a time. */
    const inOrder = (x: Float32Array, weights: Float32Array): number => {
      const { fround } = Math;
      let sum = 0;
      for (let start = 0; start < x.length; start += 32) {
        const parts: [number, number] = [0, 0];
        for (let k = start; k < Math.min(start + 32, x.length); k++)
          parts[k % 2] = fround(parts[k % 2]! + rounded(x[k]!) * rounded(weights[k]!));
        sum = fround(sum + fround(parts[0] + parts[1]));
      }
      return sum;
    };
    const sizes = [
      [1, 64, 16],
      [5, 30, 70],
      [16, 96, 64],
      [37, 200, 144],
      [100, 51, 33],
      [40, 2304, 48],
      [1100, 34, 20],
    ] as const;

    it.each(sizes)("have the bits of their order: %i x %i x %i", (rows, depth, columns) => {
      const device = new Device({ threads: 2, instructionSet: tiled });
      const random = createRandom(rows + depth);
      const x = newTensor(device, rows, depth);
      const weights = newTensor(device, columns, depth);
      for (const tensor of [x, weights]) fill(tensor, random);
      const result = newTensor(device, rows, columns);
      const alone = newTensor(device, 1, columns);
      const matrix = newMatrix(device, depth, columns, "bf16");
      const program = new Program(device);
      pack(program, weights, matrix);
      product(program, x, matrix, result, { precision: "bf16" });
      product(program, x.slice(rows - 1, 1), matrix, alone, { precision: "bf16" });
      program.runNow();
      const wrong: [number, number][] = [];
      for (let i = 0; i < rows; i += Math.ceil(rows / 40))
        for (let j = 0; j < columns; j++)
          if (result.row(i)[j] !== inOrder(x.row(i), weights.row(j))) wrong.push([i, j]);
      expect(wrong).toEqual([]);
      expect(alone.data).toEqual(result.row(rows - 1));
    });

    it("take denormal numbers for zero, and keep other rows apart from what is not a number", () => {
      const device = new Device({ threads: 1, instructionSet: tiled });
      const [x, weights] = [newTensor(device, 20, 32), newTensor(device, 16, 32)];
      const result = newTensor(device, 20, 16);
      weights.data.fill(2 ** -100);
      x.row(0).fill(2 ** -30);
      x.row(1).fill(Infinity);
      x.row(2).fill(NaN);
      x.row(19).fill(1);
      const matrix = newMatrix(device, 32, 16, "bf16");
      const program = new Program(device);
      pack(program, weights, matrix);
      product(program, x, matrix, result, { precision: "bf16" });
      program.runNow();
      const firsts = [0, 1, 2, 3, 19].map((row) => result.row(row)[0]);
      expect(firsts).toEqual([0, Infinity, NaN, 0, 2 ** -95]);
    });
  },
);

/** [depth, columns]: what the rows of the identity give. */
function contents(device: Device, matrix: Matrix): Float32Array {
  const identity = newTensor(device, matrix.depth, matrix.depth);
  for (let i = 0; i < matrix.depth; i++) identity.row(i)[i] = 1;
  const result = newTensor(device, matrix.depth, matrix.columns);
  const program = new Program(device);
  product(program, identity, matrix, result, { precision: "f32" });
  program.runNow();
  return result.data;
}

describe.each(loadNative().instructionSets.map(({ name }) => name))(
  "packing with %s",
  (instructionSet) => {
    const device = new Device({ threads: 2, instructionSet });
    const places: [number, number, PackOptions][] = [
      [200, 134, {}],
      [64, 576, { column: 64 }],
      [130, 21, { column: 3, depth: 2, factor: 0.3 }],
      [17, 40, { column: 16, depth: 1 }],
      [48, 33, { column: 32, factor: 2 }],
      [40, 90, { transposed: true, column: 7, depth: 4, factor: 0.3 }],
    ];
    const formats = ["f32", "bf16"] as const;
    const cases = places.flatMap((place) =>
      formats.flatMap((from) => formats.map((to) => [...place, from, to] as const)),
    );

    it.each(cases)("puts [%i, %i] where %o says, %s to %s", (rows, columns, options, from, to) => {
      const { transposed = false, depth = 0, column = 0, factor = 1 } = options;
      const random = createRandom(rows);
      const values = Float32Array.from({ length: rows * columns }, () => {
        const value = 2 * random() - 1;
        return from === "bf16" ? rounded(value) : value;
      });
      const source =
        from === "f32"
          ? tensorOf(device, values).reshaped(rows, columns)
          : tensorOf(
              device,
              new Uint32Array(values.buffer).map((bits) => bits >>> 16),
              "bf16",
            ).reshaped(rows, columns);
      const [deep, wide] = transposed ? [rows, columns] : [columns, rows];
      const matrix = newMatrix(device, depth + deep + 5, column + wide + 3, to);
      const expectedAt = (k: number, n: number): number => {
        const [i, j] = [k - depth, n - column];
        if (i < 0 || j < 0 || i >= deep || j >= wide) return 0;
        const value = values[transposed ? i * columns + j : j * columns + i]!;
        const scaled = Math.fround(value * Math.fround(factor));
        return to === "bf16" ? rounded(scaled) : scaled;
      };
      const program = new Program(device);
      pack(program, source, matrix, options);
      const turned = newMatrix(device, matrix.columns, matrix.depth, to);
      transpose(program, matrix, turned);
      program.runNow();
      const [found, back] = [contents(device, matrix), contents(device, turned)];
      const wrong: [number, number][] = [];
      for (let k = 0; k < matrix.depth; k++)
        for (let n = 0; n < matrix.columns; n++) {
          const own = [found[k * matrix.columns + n], back[n * matrix.depth + k]];
          if (own.some((value) => value !== expectedAt(k, n))) wrong.push([k, n]);
        }
      expect(wrong).toEqual([]);
    });
  },
);
