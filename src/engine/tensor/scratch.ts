/** Memory that is used again: it grows to what the largest use needs. */
import type { Device } from "./device.ts";
import { newTensor, type Tensor, type TensorType } from "./tensor.ts";

/** Rows by what they are for, which has one type each. */
export class Scratch {
  readonly #device: Device;
  readonly #rows = new Map<string, Tensor<TensorType>>();

  constructor(device: Device) {
    this.#device = device;
  }

  /** A row of at least `columns`; what it holds is left over. */
  take<T extends TensorType>(purpose: string, columns: number, type: T): Tensor<T> {
    let found = this.#rows.get(purpose);
    if (found === undefined || found.columns < columns) {
      found = newTensor(this.#device, 1, columns, type);
      this.#rows.set(purpose, found);
    }
    if (found.type !== type) throw new RangeError(`"${purpose}" is of ${found.type}, not ${type}.`);
    return found as Tensor<T>;
  }

  /** A row with these numbers, which the next one for the same purpose replaces. */
  row<T extends TensorType>(purpose: string, values: ArrayLike<number>, type: T): Tensor<T> {
    const row = this.take(purpose, values.length, type).columnsFrom(0, values.length);
    row.data.set(values);
    return row;
  }
}

const shared = new WeakMap<Device, Scratch>();

/** What operations share: programs of a device run one after the other. */
export function scratchOf<T extends TensorType = "f32">(
  device: Device,
  purpose: string,
  columns: number,
  type: T = "f32" as T,
): Tensor<T> {
  let scratch = shared.get(device);
  if (scratch === undefined) shared.set(device, (scratch = new Scratch(device)));
  return scratch.take(purpose, columns, type);
}
