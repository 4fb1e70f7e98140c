import { expect, it } from "vitest";
import { createRandom } from "../../../util/random.ts";
import { Device } from "../device.ts";
import { Program } from "../program.ts";
import { newTensor, tensorOf } from "../tensor.ts";
import { addRows, copyRows, gatherRows, scatterRows } from "./rows.ts";
import { onEveryDevice, randomView, valuesOf } from "../../../../test/engine/every-device.ts";

it.each([
  [1, 1],
  [3, 17],
  [40, 1000],
])("copies and adds %i rows of %i", (rows, columns) => {
  onEveryDevice((device, program) => {
    const random = createRandom(rows);
    const [x, copy, sum] = [1, 2, 3].map(() => randomView(device, rows, columns, random));
    const before = valuesOf(sum!);
    copyRows(program, x!, copy!);
    addRows(program, x!, sum!);
    program.runNow();
    const values = valuesOf(x!);
    expect(valuesOf(copy!)).toEqual(values);
    expect(valuesOf(sum!)).toEqual(before.map((value, i) => value + values[i]!));
    return [];
  });
});

it("takes rows, and adds them back in order where some go to one place", () => {
  const indices = [4, 0, 4, 2, 4, 0];
  for (const columns of [1, 19, 3000])
    onEveryDevice((device, program) => {
      const random = createRandom(columns);
      const x = randomView(device, 5, columns, random);
      const ids = tensorOf(device, indices, "i32");
      const taken = randomView(device, 6, columns, random);
      const sum = randomView(device, 5, columns, random);
      const expected = Array.from({ length: 5 }, (_, r) => sum.row(r).slice());
      gatherRows(program, x, ids, taken);
      scatterRows(program, taken, ids, sum);
      program.runNow();
      for (const [r, index] of indices.entries()) {
        expect(taken.row(r)).toEqual(x.row(index));
        expected[index] = expected[index]!.map((value, k) => value + taken.row(r)[k]!);
      }
      for (const [r, row] of expected.entries()) expect(sum.row(r)).toEqual(row);
      return [];
    });
});

it("refuses places beyond the end, and other shapes", () => {
  const device = new Device({ threads: 1 });
  const program = new Program(device);
  const [x, y] = [newTensor(device, 3, 4), newTensor(device, 2, 4)];
  expect(() => copyRows(program, x, y)).toThrow(RangeError);
  expect(() => addRows(program, x, y)).toThrow(RangeError);
  for (const wrong of [[0, 3], [-1, 0], [0]]) {
    expect(() => gatherRows(program, x, tensorOf(device, wrong, "i32"), y)).toThrow(RangeError);
    expect(() => scatterRows(program, y, tensorOf(device, wrong, "i32"), x)).toThrow(RangeError);
  }
});
