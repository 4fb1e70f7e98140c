/** Gated activation (arXiv:2002.05202): activation(gate) * up, of rows that are gate and, behind it, up. */
import type { Program } from "../program.ts";
import type { Tensor } from "../tensor.ts";
import { checkShape } from "./check-shape.ts";

export type Activation = "silu" | "gelu_tanh";
const ids: Readonly<Record<Activation, number>> = { silu: 0, gelu_tanh: 1 };

/** gateUp [rows, 2 width]; y [rows, width]. */
export function gate(program: Program, gateUp: Tensor, y: Tensor, activation: Activation): void {
  checkShape("Gate and up", gateUp, y.rows, 2 * y.columns);
  program.add("gate", y.rows, y.columns, gateUp, gateUp.stride, y, y.stride, ids[activation]);
}

/** gradient [rows, 2 width], which may be gateUp, from dy [rows, width]. */
export function gateBackward(
  program: Program,
  gateUp: Tensor,
  dy: Tensor,
  gradient: Tensor,
  activation: Activation,
): void {
  checkShape("Gate and up", gateUp, dy.rows, 2 * dy.columns);
  checkShape("The gradient", gradient, dy.rows, 2 * dy.columns);
  program.add(
    "gate_backward",
    dy.rows,
    dy.columns,
    gateUp,
    gateUp.stride,
    gradient,
    gradient.stride,
    ids[activation],
    dy,
    dy.stride,
  );
}
