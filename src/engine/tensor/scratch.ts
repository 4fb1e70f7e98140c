/** Memory that operations share: programs of a device run one after the other. */
import type { Device } from "./device.ts";
import { newTensor, type Tensor, type TensorType } from "./tensor.ts";

const scratches = new WeakMap<Device, Map<string, Tensor<TensorType>>>();

/** A row of at least `columns`; what it holds is left over. It grows to what the largest needs. */
export function scratchOf<T extends TensorType = "f32">(
  device: Device,
  purpose: string,
  columns: number,
  type: T = "f32" as T,
): Tensor<T> {
  const known = scratches.get(device) ?? new Map<string, Tensor<TensorType>>();
  scratches.set(device, known);
  const key = `${purpose} ${type}`;
  let found = known.get(key);
  if (found === undefined || found.columns < columns) {
    found = newTensor(device, 1, columns, type);
    known.set(key, found);
  }
  return found as Tensor<T>;
}
