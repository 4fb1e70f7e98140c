/** Rows copied, added, taken and put back. */
import type { Program } from "../program.ts";
import type { Tensor } from "../tensor.ts";
import { checkIndices, checkShape } from "./check-shape.ts";

/** y = x, [rows, columns] both. */
export function copyRows(program: Program, x: Tensor, y: Tensor): void {
  checkShape("The copy", y, x.rows, x.columns);
  program.add("copy_rows", x.rows, x.columns, x, x.stride, y, y.stride, false, null);
}

/** y += x, [rows, columns] both. */
export function addRows(program: Program, x: Tensor, y: Tensor): void {
  checkShape("The sum", y, x.rows, x.columns);
  program.add("copy_rows", x.rows, x.columns, x, x.stride, y, y.stride, true, null);
}

/** y[r] = x[indices[r]]; `indices` [1, rows of y]. */
export function gatherRows(program: Program, x: Tensor, indices: Tensor<"i32">, y: Tensor): void {
  checkShape("The result", y, y.rows, x.columns);
  checkIndices("The indices", indices, y.rows, x.rows);
  program.add("gather_rows", y.rows, x.columns, x, x.stride, y, y.stride, false, indices);
}

/** y[indices[r]] += x[r], in the order of r; `indices` [1, rows of x]. */
export function scatterRows(program: Program, x: Tensor, indices: Tensor<"i32">, y: Tensor): void {
  checkShape("The result", y, y.rows, x.columns);
  checkIndices("The indices", indices, x.rows, y.rows);
  program.add("scatter_rows", x.rows, x.columns, x, x.stride, y, y.stride, true, indices);
}
