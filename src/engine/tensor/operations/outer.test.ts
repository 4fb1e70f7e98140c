import { expect, it } from "vitest";
import { createRandom } from "../../../util/random.ts";
import { Device } from "../device.ts";
import { Program } from "../program.ts";
import { newTensor } from "../tensor.ts";
import { outer } from "./outer.ts";
import {
  expectNear,
  onEveryDevice,
  randomView,
  valuesOf,
} from "../../../../test/engine/every-device.ts";

/** Rows, I, J. */
const shapes = [
  [1, 1, 1],
  [3, 8, 5],
  [7, 16, 70],
  [40, 70, 16],
  [9, 1, 200],
  [66, 13, 64],
  [130, 100, 129],
  [600, 33, 50],
  [1100, 8, 20],
  [1100, 20, 8],
] as const;

it.each(shapes)("equals sums in doubles: %i rows of %i and %i", (rows, i, j) => {
  const results = onEveryDevice((device, program) => {
    const random = createRandom(rows + i + j);
    const [a, b] = [i, j].map((columns) => randomView(device, rows, columns, random));
    const c = randomView(device, i, j, random);
    const sum = randomView(device, i, j, random);
    const before = newTensor(device, i, j);
    before.data.set(valuesOf(sum));
    outer(program, a!, b!, c);
    outer(program, a!, b!, sum, { factor: 0.25, accumulate: true });
    return [a!, b!, before, c, sum];
  });
  for (const [a, b, before, c, sum] of results.values()) {
    const expected = new Float64Array(i * j);
    for (let r = 0; r < rows; r++)
      for (let x = 0; x < i; x++)
        for (let y = 0; y < j; y++) expected[x * j + y]! += a![r * i + x]! * b![r * j + y]!;
    const tolerance = 1e-7 * Math.sqrt(rows) * 3;
    expectNear(c!, expected, tolerance);
    expectNear(
      sum!,
      expected.map((value, n) => before![n]! + value / 4),
      tolerance,
    );
  }
});

it("refuses shapes that do not fit", () => {
  const device = new Device({ threads: 1 });
  const program = new Program(device);
  const [a, b, c] = [newTensor(device, 4, 2), newTensor(device, 4, 3), newTensor(device, 2, 3)];
  expect(() => outer(program, b, a, c)).toThrow(RangeError);
  expect(() => outer(program, a, b.slice(0, 3), c)).toThrow(RangeError);
});
