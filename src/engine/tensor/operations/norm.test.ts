import { expect, it } from "vitest";
import { createRandom } from "../../../util/random.ts";
import { Device } from "../device.ts";
import { Program } from "../program.ts";
import { newTensor } from "../tensor.ts";
import { norm, normBackward } from "./norm.ts";
import {
  differences,
  expectNear,
  onEveryDevice,
  randomTensor,
  randomView,
  valuesOf,
} from "../../../../test/engine/every-device.ts";

const epsilon = 1e-3;

/** In doubles; `weight` has the width of a group. */
function reference(x: ArrayLike<number>, weight: ArrayLike<number>, offset: number): Float64Array {
  const width = weight.length;
  const y = new Float64Array(x.length);
  for (let start = 0; start < x.length; start += width) {
    let squares = 0;
    for (let k = 0; k < width; k++) squares += x[start + k]! ** 2;
    const rms = Math.sqrt(squares / width + epsilon);
    for (let k = 0; k < width; k++) y[start + k] = (x[start + k]! / rms) * (offset + weight[k]!);
  }
  return y;
}

const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Array.from(a).reduce((sum, value, i) => sum + value * b[i]!, 0);

/** Rows, groups, width. */
const shapes = [
  [1, 1, 1],
  [3, 1, 33],
  [5, 3, 7],
  [2, 2, 64],
  [150, 1, 20],
  [70, 9, 16],
  [300, 1, 130],
] as const;

it.each(shapes)("normalises %i rows of %i x %i as in doubles", (rows, groups, width) => {
  for (const [offset, accumulate] of [
    [0, false],
    [1, true],
  ] as const) {
    const inputs = () => createRandom(rows);
    const results = onEveryDevice((device, program) => {
      const random = inputs();
      const x = randomView(device, rows, groups * width, random);
      const weight = randomTensor(device, 1, width, random);
      const y = randomView(device, rows, groups * width, random);
      const before = valuesOf(y);
      norm(program, x, weight, y, { epsilon, offset, groups, accumulate });
      const kept = newTensor(device, 1, before.length);
      kept.data.set(before);
      return [x, weight, kept, y];
    });
    for (const [x, weight, before, y] of results.values()) {
      const expected = reference(x!, weight!, offset);
      expectNear(y!, accumulate ? expected.map((value, i) => value + before![i]!) : expected, 1e-6);
    }
  }
});

it.each(shapes.filter(([rows, groups, width]) => rows * groups * width < 1000))(
  "has the gradients of finite differences: %i rows of %i x %i",
  (rows, groups, width) => {
    const offset = 1;
    const results = onEveryDevice((device, program) => {
      const random = createRandom(rows + 9);
      const x = randomView(device, rows, groups * width, random);
      const weight = randomTensor(device, 1, width, random);
      const dy = randomView(device, rows, groups * width, random);
      const dx = newTensor(device, rows, groups * width);
      const weightGradient = newTensor(device, 1, width);
      weightGradient.data.fill(3);
      normBackward(program, x, weight, dy, dx, { epsilon, offset, groups, weightGradient });
      return [x, weight, dy, dx, weightGradient];
    });
    for (const [x, weight, dy, dx, weightGradient] of results.values()) {
      const ofX = differences(Float64Array.from(x!), (changed) =>
        dot(reference(changed, weight!, offset), dy!),
      );
      const ofWeight = differences(Float64Array.from(weight!), (changed) =>
        dot(reference(x!, changed, offset), dy!),
      );
      expectNear(dx!, ofX, 1e-5);
      expectNear(
        weightGradient!,
        ofWeight.map((value) => value + 3),
        1e-5,
      );
    }
  },
);

it("gives the same gradients in place, added, and with a frozen weight", () => {
  onEveryDevice((device, program) => {
    const random = createRandom(3);
    const [rows, groups, width] = [90, 2, 40];
    const x = randomView(device, rows, groups * width, random);
    const weight = randomTensor(device, 1, width, random);
    const dy = randomTensor(device, rows, groups * width, random);
    const [dx, added] = [dy, dy].map(() => newTensor(device, rows, groups * width));
    const weightGradient = newTensor(device, 1, width);
    const options = { epsilon, groups };
    normBackward(program, x, weight, dy, dx!, options);
    normBackward(program, x, weight, dy, added!, { ...options, accumulate: true, weightGradient });
    normBackward(program, x, weight, dy, dy, { ...options, weightGradient });
    program.runNow();
    expect(valuesOf(dy)).toEqual(valuesOf(dx!));
    expect(valuesOf(added!)).toEqual(valuesOf(dx!));
    return [dx!, weightGradient];
  });
});

it("refuses shapes that do not fit", () => {
  const device = new Device({ threads: 1 });
  const program = new Program(device);
  const [x, weight] = [newTensor(device, 2, 8), newTensor(device, 1, 4)];
  expect(() => norm(program, x, weight, x, { epsilon })).toThrow(RangeError);
  expect(() => norm(program, x, weight, newTensor(device, 3, 8), { epsilon, groups: 2 })).toThrow(
    RangeError,
  );
  const options = { epsilon, groups: 2, weightGradient: x };
  expect(() => normBackward(program, x, weight, x, x, options)).toThrow(RangeError);
});
