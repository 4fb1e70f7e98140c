/** Gradients of weights. */
import type { Program } from "../program.ts";
import { scratchOf } from "../scratch.ts";
import type { Tensor } from "../tensor.ts";
import { checkShape } from "./check-shape.ts";

/** c [I, J] (+)= factor * a' b, summed over rows in order; a [rows, I], b [rows, J]. */
export function outer(
  program: Program,
  a: Tensor,
  b: Tensor,
  c: Tensor,
  {
    factor = 1,
    accumulate = false,
  }: { readonly factor?: number; readonly accumulate?: boolean } = {},
): void {
  checkShape("The second factor", b, a.rows, b.columns);
  checkShape("The gradient", c, a.columns, b.columns);
  const scratch = scratchOf(program.device, "outer", program.device.threads * a.rows * 64);
  program.add(
    "outer",
    a.rows,
    a.columns,
    b.columns,
    a,
    a.stride,
    b,
    b.stride,
    c,
    c.stride,
    factor,
    accumulate,
    scratch,
  );
}
