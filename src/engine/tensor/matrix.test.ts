import { describe, expect, it } from "vitest";
import { createRandom } from "../../util/random.ts";
import { loadNative } from "../native/load-native.ts";
import { Device } from "./device.ts";
import { newMatrix, pack, product, type MatrixFormat, type Precision } from "./matrix.ts";
import { Program } from "./program.ts";
import { newTensor, type Tensor } from "./tensor.ts";

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
        const weightRows = Array.from({ length: columns }, (_, j) => weights.row(j));
        for (let i = 0; i < rows; i++) {
          const own = x.row(i);
          const found = result.row(i);
          for (let j = 0; j < columns; j++) {
            let expected = 0;
            for (let k = 0; k < depth; k++) {
              const a = own[k]!;
              const b = weightRows[j]![k]!;
              expected +=
                (precision === "bf16" ? rounded(a) : a) * (format === "bf16" ? rounded(b) : b);
            }
            worst = Math.max(worst, Math.abs(found[j]! - expected));
          }
        }
        expect(worst).toBeLessThan(1e-6 * Math.sqrt(depth) * 4);
      }
    });
  },
);

it("computes products of bf16 with the same bits on every instruction set", () => {
  const all = loadNative().instructionSets.filter(({ name }) => name !== "sse2");
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
