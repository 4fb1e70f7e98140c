/** For tests: every set of kernels that this machine can run, and random tensors whose rows lie apart. */
import { expect } from "vitest";
import { chooseNative } from "../../src/engine/native/load-native.ts";
import { Device } from "../../src/engine/tensor/device.ts";
import { Program } from "../../src/engine/tensor/program.ts";
import { newTensor, type Tensor } from "../../src/engine/tensor/tensor.ts";

/** With one thread and with two. */
const devices: ReadonlyMap<string, readonly Device[]> = new Map(
  (["addon", "wasm"] as const).flatMap((kind) => {
    const native = chooseNative(kind);
    return native.instructionSets.map(({ name }) => [
      name,
      [1, 2].map((threads) => new Device({ threads, instructionSet: name, native })),
    ]);
  }),
);

/** What an operation computes with each set of kernels; the bits do not depend on the number of threads. */
export function onEveryDevice(
  compute: (device: Device, program: Program) => readonly Tensor[],
): ReadonlyMap<string, readonly Float32Array[]> {
  const results = new Map<string, readonly Float32Array[]>();
  for (const [name, own] of devices) {
    const [one, two] = own.map((device) => {
      const program = new Program(device);
      const tensors = compute(device, program);
      program.runNow();
      return tensors.map(valuesOf);
    });
    expect(two).toEqual(one);
    results.set(name, one!);
  }
  return results;
}

/** Its rows, one after the other. */
export function valuesOf(tensor: Tensor): Float32Array {
  const values = new Float32Array(tensor.rows * tensor.columns);
  for (let r = 0; r < tensor.rows; r++) values.set(tensor.row(r), r * tensor.columns);
  return values;
}

/** Columns of a wider tensor: what is read or written beside them is not as expected. */
export function randomView(
  device: Device,
  rows: number,
  columns: number,
  random: () => number,
): Tensor {
  const whole = newTensor(device, rows, columns + 3);
  whole.data.fill(NaN);
  const view = whole.columnsFrom(2, columns);
  for (let r = 0; r < rows; r++) fillRandomly(view.row(r), random);
  return view;
}

export function randomTensor(
  device: Device,
  rows: number,
  columns: number,
  random: () => number,
): Tensor {
  const tensor = newTensor(device, rows, columns);
  fillRandomly(tensor.data, random);
  return tensor;
}

function fillRandomly(values: Float32Array, random: () => number): void {
  for (let i = 0; i < values.length; i++) values[i] = 4 * random() - 2;
}

/** Relative to the largest number that is expected, or to 1. */
export function expectNear(
  found: Float32Array,
  expected: ArrayLike<number>,
  tolerance: number,
): void {
  expect(found).toHaveLength(expected.length);
  let largest = 1;
  for (let i = 0; i < expected.length; i++) largest = Math.max(largest, Math.abs(expected[i]!));
  for (let i = 0; i < found.length; i++)
    if (!(Math.abs(found[i]! - expected[i]!) <= tolerance * largest))
      expect.fail(`[${i}] is ${found[i]}, not ${expected[i]}`);
}

/** Central differences of `loss` by each of `values`, in doubles. */
export function differences(
  values: Float64Array,
  loss: (values: Float64Array) => number,
): Float64Array {
  const step = 1e-5;
  return values.map((value, i) => {
    const at = (x: number): number => {
      const changed = values.slice();
      changed[i] = x;
      return loss(changed);
    };
    return (at(value + step) - at(value - step)) / (2 * step);
  });
}
