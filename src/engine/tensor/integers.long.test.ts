/** Matrices of integers: what they hold, and products with them. */
import { expect, it } from "vitest";
import {
  expectNear,
  onEveryDevice,
  randomTensor,
  randomView,
  valuesOf,
} from "../../../test/engine/every-device.ts";
import { createRandom } from "../../util/random.ts";
import { roundToInt8 } from "../model/int8-matrix.ts";
import { Device } from "./device.ts";
import { newMatrix, newTransposed, pack, product, transpose, type Matrix } from "./matrix.ts";
import { Program } from "./program.ts";
import { newTensor, type Tensor, tensorOf } from "./tensor.ts";

const narrow = (value: number): number => {
  const bits = new Uint32Array(Float32Array.of(value).buffer);
  bits[0] = (bits[0]! + 0x7fff + ((bits[0]! >>> 16) & 1)) & 0xffff0000;
  return new Float32Array(bits.buffer)[0]!;
};

const firstDifference = (found: Float32Array, expected: Float32Array): number =>
  found.length === expected.length ? found.findIndex((x, i) => x !== expected[i]) : 0;

/** [depth, columns]: what the rows of the identity give. */
function contents(program: Program, matrix: Matrix): Tensor {
  const { device } = program;
  const identity = newTensor(device, matrix.depth, matrix.depth);
  for (let i = 0; i < matrix.depth; i++) identity.row(i)[i] = 1;
  const result = newTensor(device, matrix.depth, matrix.columns);
  product(program, identity, matrix, result, { precision: "f32" });
  return result;
}

function transposedOf(program: Program, matrix: Matrix): Matrix {
  const made = newTransposed(program.device, matrix);
  transpose(program, matrix, made);
  return made;
}

/** Rows that are random, of ties and of zeros, the least and the largest floats; f32 or bf16. */
function weightsOf(rows: number, columns: number, random: () => number): Float32Array {
  const weights = new Float32Array(rows * columns);
  for (let i = 0; i < weights.length; i++) {
    const kind = Math.floor(i / columns) % 6;
    if (kind === 0) weights[i] = i % columns === 0 ? -127 : Math.floor(254 * random()) / 2 - 63.5;
    else if (kind === 1) weights[i] = 0;
    else weights[i] = (random() - 0.5) * [1e-37, 1e37, 1, 0.02][kind - 2]!;
  }
  return weights;
}

it.each([
  [1, 1, 0],
  [6, 130, 0],
  [70, 64, 16],
  [33, 51, 3],
  [200, 34, 64],
] as const)("round as int8-matrix.ts does: [%i, %i] from column %i", (rows, columns, column) => {
  for (const type of ["f32", "bf16"] as const) {
    const values = weightsOf(rows, columns, createRandom(rows)).map(
      type === "f32" ? (x) => x : narrow,
    );
    const results = onEveryDevice((device, program) => {
      const stored = type === "f32" ? values : new Uint32Array(values.buffer).map((x) => x >>> 16);
      const matrix = newMatrix(device, columns, column + rows + 5, "i8");
      const shape = [rows, columns] as const;
      if (type === "f32")
        pack(program, tensorOf(device, stored).reshaped(...shape), matrix, { column });
      else pack(program, tensorOf(device, stored, "bf16").reshaped(...shape), matrix, { column });
      const back = transposedOf(program, matrix);
      return [matrix.scales!, contents(program, matrix), contents(program, back)];
    });
    const rounded = values.slice();
    const { scales } = roundToInt8(rounded, [rows, columns]);
    for (const [name, [ownScales, forward, back]] of results) {
      expect(ownScales!.subarray(column, column + rows), name).toEqual(scales);
      const [deep, wide] = [columns, column + rows + 5];
      const expected = new Float32Array(deep * wide);
      for (let n = 0; n < rows; n++)
        for (let k = 0; k < columns; k++)
          expected[k * wide + column + n] = rounded[n * columns + k]! + 0;
      const turned = new Float32Array(wide * deep);
      for (const [i, value] of expected.entries())
        turned[(i % wide) * deep + Math.floor(i / wide)] = value;
      expect(firstDifference(forward!, expected), name).toBe(-1);
      expect(firstDifference(back!, turned), name).toBe(-1);
    }
  }
});

it("have a scale for every row of an odd transpose, which products read", () => {
  onEveryDevice((device) => {
    const matrix = newMatrix(device, 4, 3, "i8");
    expect(newTransposed(device, matrix).paddedDepth).toBe(matrix.scales!.columns);
    return [];
  });
});

it("keep a row with a weight that is not a number as such", () => {
  const weights = Float32Array.of(1, NaN, 2, 1, -Infinity, 3, 4, 2, 1);
  const results = onEveryDevice((device, program) => {
    const matrix = newMatrix(device, 3, 3, "i8");
    pack(program, tensorOf(device, weights).reshaped(3, 3), matrix);
    return [contents(program, matrix)];
  });
  for (const [found] of results.values()) {
    const columns = [0, 1, 2].map((n) => [0, 1, 2].map((k) => found![3 * k + n]!));
    expect(columns.slice(0, 2).flat().every(Number.isNaN)).toBe(true);
    expect(columns[2]!.map((value) => value / columns[2]![0]!)).toEqual([
      1,
      expect.closeTo(64 / 127, 6),
      expect.closeTo(32 / 127, 6),
    ]);
  }
});

/** Rows, depth, columns. */
const shapes = [
  [1, 2, 1],
  [1, 130, 200],
  [5, 33, 64],
  [13, 66, 100],
  [40, 51, 70],
  [110, 64, 130],
] as const;
const cases = shapes.flatMap((shape) =>
  (["f32", "bf16"] as const).flatMap((precision) =>
    (["columns", "depth"] as const).map((scales) => [...shape, precision, scales] as const),
  ),
);

it.each(cases)(
  "multiply: %i x %i x %i in %s, with scales along the %s",
  (rows, depth, columns, precision, scales) => {
    const inFloats = precision === "f32" ? (x: number): number => x : narrow;
    const results = onEveryDevice((device, program) => {
      const random = createRandom(rows + depth);
      const isTransposed = scales === "depth";
      // Rows of the transpose are padded to an even depth, which are columns here.
      const wide = isTransposed ? columns + (columns % 2) : columns;
      const weights = isTransposed
        ? randomTensor(device, depth, wide, random)
        : randomTensor(device, wide, depth, random);
      const own = newMatrix(device, weights.columns, weights.rows, "i8");
      pack(program, weights, own);
      const matrix = isTransposed ? transposedOf(program, own) : own;
      const x = randomView(device, rows, depth, random);
      const plain = newTensor(device, rows, wide);
      product(program, x, matrix, plain, { precision });
      // What decoding computes of a row.
      const row = Math.floor(rows / 2);
      const alone = newTensor(device, 1, wide);
      product(program, x.slice(row, 1), matrix, alone, { precision });
      // With everything that can be added.
      const second = {
        x: randomView(device, rows, 6, random),
        matrix: newMatrix(device, 6, wide, "f32"),
      };
      const factor = randomTensor(device, wide, 6, random);
      pack(program, factor, second.matrix);
      const bias = randomTensor(device, 1, wide, random);
      const sum = randomView(device, rows, wide, random);
      const before = tensorOf(device, valuesOf(sum)).reshaped(rows, wide);
      product(program, x, matrix, sum, { precision, bias, accumulate: true, second });
      return [x, weights, plain, alone, before, bias, second.x, factor, sum];
    });
    for (const [
      x,
      weights,
      plain,
      alone,
      before,
      bias,
      narrowed,
      factor,
      sum,
    ] of results.values()) {
      const isTransposed = scales === "depth";
      const wide = plain!.length / rows;
      const own = Math.floor(rows / 2) * wide;
      const { integers, scales: steps } = roundToInt8(
        weights!.slice(),
        isTransposed ? [depth, wide] : [wide, depth],
      );
      const expected = new Float64Array(rows * wide);
      const all = new Float64Array(rows * wide);
      const inputs = x!.map((value, at) =>
        inFloats(isTransposed ? Math.fround(value * steps[at % depth]!) : value),
      );
      for (let i = 0; i < rows; i++)
        for (let n = 0; n < wide; n++) {
          let total = 0;
          for (let k = 0; k < depth; k++)
            total +=
              inputs[i * depth + k]! * integers[isTransposed ? k * wide + n : n * depth + k]!;
          const at = i * wide + n;
          expected[at] = total * (isTransposed ? 1 : steps[n]!);
          all[at] = before![at]! + bias![n]! + expected[at];
          for (let r = 0; r < 6; r++) all[at] += narrowed![i * 6 + r]! * factor![n * 6 + r]!;
        }
      const tolerance = 4e-6 * Math.sqrt(depth);
      expectNear(plain!, expected, tolerance);
      expectNear(sum!, all, tolerance);
      expect(firstDifference(alone!, plain!.slice(own, own + wide))).toBe(-1);
    }
  },
);

it("take whole columns, and no second product", () => {
  const device = new Device({ threads: 1 });
  const program = new Program(device);
  const [matrix, rows] = [newMatrix(device, 8, 6, "i8"), newTensor(device, 4, 8)];
  for (const options of [{ transposed: true }, { depth: 2 }, { factor: 2 }, { column: 3 }])
    expect(() => pack(program, rows, matrix, options)).toThrow(RangeError);
  expect(() => pack(program, rows.columnsFrom(0, 6), matrix)).toThrow(RangeError);
  expect(() => pack(program, rows, newTransposed(device, matrix))).toThrow(RangeError);
  expect(() => transpose(program, matrix, newMatrix(device, 6, 8, "i8"))).toThrow(RangeError);
  const second = { x: rows, matrix };
  const result = newTensor(device, 4, 6);
  expect(() => product(program, rows, matrix, result, { precision: "f32", second })).toThrow(
    RangeError,
  );
});
