import { expect, it } from "vitest";
import { createRandom } from "../../../util/random.ts";
import { Device } from "../device.ts";
import { Program } from "../program.ts";
import { newTensor, tensorOf } from "../tensor.ts";
import { gate, gateBackward, type Activation } from "./gate.ts";
import {
  differences,
  expectNear,
  onEveryDevice,
  randomView,
} from "../../../../test/engine/every-device.ts";

const activations: Readonly<Record<Activation, (x: number) => number>> = {
  silu: (x) => x / (1 + Math.exp(-x)),
  gelu_tanh: (x) => (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
};

function reference(gateUp: ArrayLike<number>, width: number, activation: Activation): Float64Array {
  return Float64Array.from({ length: gateUp.length / 2 }, (_, i) => {
    const at = Math.floor(i / width) * 2 * width + (i % width);
    return activations[activation](gateUp[at]!) * gateUp[at + width]!;
  });
}

for (const activation of ["silu", "gelu_tanh"] as const) {
  it.each([
    [1, 1],
    [2, 5],
    [3, 16],
    [7, 67],
    [40, 300],
  ])(`${activation} of %i x %i equals that in doubles, forward and backward`, (rows, width) => {
    const results = onEveryDevice((device, program) => {
      const random = createRandom(width);
      const gateUp = randomView(device, rows, 2 * width, random);
      const dy = randomView(device, rows, width, random);
      const y = randomView(device, rows, width, random);
      const gradient = randomView(device, rows, 2 * width, random);
      const inPlace = newTensor(device, rows, 2 * width);
      for (let r = 0; r < rows; r++) inPlace.row(r).set(gateUp.row(r));
      gate(program, gateUp, y, activation);
      gateBackward(program, gateUp, dy, gradient, activation);
      gateBackward(program, inPlace, dy, inPlace, activation);
      return [gateUp, dy, y, gradient, inPlace];
    });
    for (const [gateUp, dy, y, gradient, inPlace] of results.values()) {
      expectNear(y!, reference(gateUp!, width, activation), 1e-6);
      expect(inPlace).toEqual(gradient);
      if (rows * width > 1000) continue;
      const expected = differences(Float64Array.from(gateUp!), (changed) =>
        reference(changed, width, activation).reduce((sum, value, i) => sum + value * dy![i]!, 0),
      );
      expectNear(gradient!, expected, 2e-6);
    }
  });

  it(`${activation} has finite limits, and NaN only for NaN`, () => {
    const gates = [-1e30, -200, -88.5, 0, 88.5, 200, 1e10, NaN];
    const results = onEveryDevice((device, program) => {
      const gateUp = tensorOf(device, [...gates, ...gates.map(() => 1)]);
      const [y, gradient] = [newTensor(device, 1, 8), newTensor(device, 1, 16)];
      gate(program, gateUp, y, activation);
      gateBackward(program, gateUp, tensorOf(device, Array(8).fill(1)), gradient, activation);
      return [y, gradient];
    });
    for (const [y, gradient] of results.values()) {
      expectNear(y!.slice(0, 6), [0, 0, 0, 0, 88.5, 200], 1e-6);
      expect(y![6]).toBe(Math.fround(1e10));
      expectNear(gradient!.slice(0, 7), [0, 0, 0, 0.5, 1, 1, 1], 1e-6);
      expect([y![7], gradient![7], gradient![15]]).toEqual([NaN, NaN, NaN]);
    }
  });
}

it("refuses shapes that do not fit", () => {
  const device = new Device({ threads: 1 });
  const program = new Program(device);
  const [gateUp, y] = [newTensor(device, 2, 8), newTensor(device, 2, 3)];
  expect(() => gate(program, gateUp, y, "silu")).toThrow(RangeError);
  expect(() => gateBackward(program, gateUp, newTensor(device, 2, 4), y, "silu")).toThrow(
    RangeError,
  );
});
