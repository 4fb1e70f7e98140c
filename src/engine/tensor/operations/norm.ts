/** Root mean square norm (arXiv:1910.07467): y = x / rms(x) * (offset + weight). */
import type { Program } from "../program.ts";
import type { Tensor } from "../tensor.ts";
import { checkShape } from "./check-shape.ts";

export interface NormOptions {
  readonly epsilon: number;
  /** Added to the weight: 1 for Gemma. @default 0 */
  readonly offset?: number;
  /** A row is so many heads, each normalised apart with the same weight. @default 1 */
  readonly groups?: number;
  /** Adds to the result in place of replacing it. @default false */
  readonly accumulate?: boolean;
}

/** x, y [rows, groups * width]; weight [1, width]. y may be x, unless it accumulates. */
export function norm(
  program: Program,
  x: Tensor,
  weight: Tensor,
  y: Tensor,
  options: NormOptions,
): void {
  const { epsilon, offset = 0, groups = 1, accumulate = false } = options;
  checkShape("The result", y, x.rows, groups * weight.columns);
  checkShape("The input", x, y.rows, y.columns);
  const { columns: width } = weight;
  program.add(
    "norm",
    x.rows,
    groups,
    width,
    x,
    x.stride,
    weight,
    y,
    y.stride,
    epsilon,
    offset,
    accumulate,
  );
}

export interface NormBackwardOptions extends NormOptions {
  /** [1, width], added to. @default none */
  readonly weightGradient?: Tensor | null;
}

/** dx from dy, both as x; dx may be dy, unless it accumulates. */
export function normBackward(
  program: Program,
  x: Tensor,
  weight: Tensor,
  dy: Tensor,
  dx: Tensor,
  options: NormBackwardOptions,
): void {
  const { epsilon, offset = 0, groups = 1, accumulate = false, weightGradient = null } = options;
  const { columns: width } = weight;
  for (const tensor of [x, dy, dx]) checkShape("A tensor", tensor, x.rows, groups * width);
  if (weightGradient !== null) checkShape("The weight's gradient", weightGradient, 1, width);
  program.add(
    "norm_backward",
    x.rows,
    groups,
    width,
    x,
    x.stride,
    weight,
    dx,
    dx.stride,
    epsilon,
    offset,
    accumulate,
    dy,
    dy.stride,
    weightGradient,
  );
}
