/** Refuses tensors that do not fit each other, before a kernel would read beyond one. */
import type { Tensor, TensorType } from "../tensor.ts";

/** @throws RangeError naming the tensor */
export function checkShape(
  name: string,
  tensor: Tensor<TensorType>,
  rows: number,
  columns: number,
): void {
  if (tensor.rows === rows && tensor.columns === columns) return;
  throw new RangeError(
    `${name} is [${tensor.rows}, ${tensor.columns}], but [${rows}, ${columns}] is needed.`,
  );
}

/** A row without gaps. @throws RangeError for a number that is not from 0 to below `end` */
export function checkIndices(
  name: string,
  tensor: Tensor<"i32">,
  count: number,
  end: number,
): void {
  checkShape(name, tensor, 1, count);
  for (const value of tensor.data)
    if (value < 0 || value >= end)
      throw new RangeError(`${name} has ${value}, which is not from 0 to below ${end}.`);
}
