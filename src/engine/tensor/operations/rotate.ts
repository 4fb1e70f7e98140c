/** Rotary position embedding (RoPE, arXiv:2104.09864). */
import type { Program } from "../program.ts";
import type { Tensor } from "../tensor.ts";
import { checkIndices, checkShape } from "./check-shape.ts";

export interface RotateOptions {
  readonly headSize: number;
  /** [1, tokens] */
  readonly positions: Tensor<"i32">;
  /** [positions, rotary dimensions / 2] */
  readonly cosines: Tensor;
  /** As the cosines. */
  readonly sines: Tensor;
  /** -1 turns back: the gradient. @default 1 */
  readonly direction?: 1 | -1;
}

/** x [tokens, heads * headSize], in place: of each head, dimension i turns with i + rotary / 2. */
export function rotate(program: Program, x: Tensor, options: RotateOptions): void {
  const { headSize, positions, cosines, sines, direction = 1 } = options;
  const heads = x.columns / headSize;
  const rotary = 2 * cosines.columns;
  if (!Number.isInteger(heads) || rotary > headSize)
    throw new RangeError(
      `[${x.rows}, ${x.columns}] is not heads of ${headSize}, of which ${rotary} turn.`,
    );
  checkShape("The sines", sines, cosines.rows, cosines.columns);
  checkIndices("The positions", positions, x.rows, cosines.rows);
  program.add(
    "rotate",
    x.rows,
    heads,
    headSize,
    rotary,
    x,
    x.stride,
    positions,
    cosines,
    sines,
    direction,
  );
}
