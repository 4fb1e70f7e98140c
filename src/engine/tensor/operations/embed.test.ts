import { expect, it } from "vitest";
import { createRandom } from "../../../util/random.ts";
import { toBfloat16, fromBfloat16 } from "../../checkpoint/half-floats.ts";
import { Device } from "../device.ts";
import { newMatrix, pack } from "../matrix.ts";
import { Program } from "../program.ts";
import { newTensor, tensorOf } from "../tensor.ts";
import { embed, embedBackward } from "./embed.ts";
import {
  onEveryDevice,
  randomTensor,
  randomView,
  valuesOf,
} from "../../../../test/engine/every-device.ts";

/** Vocabulary, width. */
const shapes = [
  [1, 1],
  [5, 7],
  [70, 33],
  [200, 576],
] as const;

it.each(shapes)("takes tokens from tables of %i x %i as stored and as packed", (size, width) => {
  const scale = 3;
  onEveryDevice((device, program) => {
    const random = createRandom(size);
    const ids = Array.from({ length: 60 }, () => Math.floor(random() * size));
    const table = randomTensor(device, size, width, random);
    const halves = newTensor(device, size, width, "bf16");
    halves.data.set(toBfloat16(table.data));
    const widened = fromBfloat16(halves.data);
    const packed = (["f32", "bf16"] as const).map((format) => {
      const matrix = newMatrix(device, width, size, format);
      pack(program, table, matrix);
      return matrix;
    });
    const tables = [table, halves, ...packed] as const;
    const results = tables.map((own) => {
      const x = randomView(device, ids.length, width, random);
      embed(program, tensorOf(device, ids, "i32"), own, x, scale);
      return x;
    });
    program.runNow();
    for (const [i, x] of results.entries()) {
      const values = i % 2 === 0 ? table.data : widened;
      const expected = ids.flatMap((id) => [...values.subarray(id * width, (id + 1) * width)]);
      expect(valuesOf(x)).toEqual(Float32Array.from(expected, (value) => value * scale));
    }
    return [];
  });
});

it("adds the gradients of a token that comes twice in order", () => {
  const ids = [3, 0, 3, 1, 3, 0];
  for (const width of [1, 7, 576, 4000])
    onEveryDevice((device, program) => {
      const random = createRandom(width);
      const dx = randomView(device, ids.length, width, random);
      const gradient = randomTensor(device, 4, width, random);
      const expected = Array.from({ length: 4 }, (_, r) => gradient.row(r).slice());
      for (const [i, id] of ids.entries())
        expected[id] = expected[id]!.map((value, k) => value + 2 * dx.row(i)[k]!);
      embedBackward(program, tensorOf(device, ids, "i32"), dx, gradient, 2);
      program.runNow();
      for (const [r, row] of expected.entries()) expect(gradient.row(r)).toEqual(row);
      return [];
    });
});

it("refuses ids that the table lacks, and other widths", () => {
  const device = new Device({ threads: 1 });
  const program = new Program(device);
  const [table, x] = [newTensor(device, 4, 6), newTensor(device, 2, 6)];
  const ids = (...values: readonly number[]) => tensorOf(device, values, "i32");
  for (const wrong of [ids(0, 4), ids(-1, 0), ids(0)]) {
    expect(() => embed(program, wrong, table, x)).toThrow(RangeError);
    expect(() => embedBackward(program, wrong, x, table)).toThrow(RangeError);
  }
  const narrow = newTensor(device, 4, 5);
  expect(() => embed(program, ids(0, 1), narrow, x)).toThrow(RangeError);
  expect(() => embed(program, ids(0, 1), newMatrix(device, 8, 4, "f32"), x)).toThrow(RangeError);
  expect(() => embed(program, ids(0, 1), newMatrix(device, 6, 4, "i8"), x)).toThrow(RangeError);
});
