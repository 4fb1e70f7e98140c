/** AdamW (arXiv:1711.05101), and the squares that gradients are clipped by. */
import type { Program } from "../program.ts";
import type { Tensor } from "../tensor.ts";
import { checkShape } from "./check-shape.ts";

export interface AdamNumbers {
  /** Factor of the gradient. */
  readonly clip: number;
  /** Factor of the weights: 1 - learning rate * decay. */
  readonly shrink: number;
  readonly beta1: number;
  readonly beta2: number;
  /** 1 - beta1^t and 1 - beta2^t */
  readonly correction1: number;
  readonly correction2: number;
  readonly eps: number;
  readonly learningRate: number;
}

/** All as the weights, contiguous; moments and weights change in place. */
export function adamStep(
  program: Program,
  weights: Tensor,
  gradient: Tensor,
  moments: { readonly first: Tensor; readonly second: Tensor },
  numbers: AdamNumbers,
): void {
  for (const tensor of [weights, gradient, moments.first, moments.second]) {
    checkShape("A tensor", tensor, weights.rows, weights.columns);
    if (!tensor.isContiguous) throw new RangeError("Tensors of an optimizer step are contiguous.");
  }
  const { clip, shrink, beta1, beta2, correction1, correction2, eps, learningRate } = numbers;
  program.add(
    "adam_step",
    weights.rows * weights.columns,
    weights,
    gradient,
    moments.first,
    moments.second,
    clip,
    shrink,
    beta1,
    beta2,
    correction1,
    correction2,
    eps,
    learningRate,
  );
}

/** Doubles that `squareSum` needs for so many numbers. */
export function squareSumSize(count: number): number {
  return 1 + Math.ceil(count / 4096);
}

/** sum[0] = the sum of squares of x, in doubles; the rest of `sum` is scratch. */
export function squareSum(program: Program, x: Tensor, sum: Tensor<"f64">): void {
  const count = x.rows * x.columns;
  if (!x.isContiguous || sum.columns < squareSumSize(count))
    throw new RangeError(`The squares of ${count} numbers need ${squareSumSize(count)} doubles.`);
  program.add("square_sum", count, x, sum);
}
