/** Matrices that are packed for products, and the product with them. */
import type { Device } from "./device.ts";
import type { Precision } from "../../core/precision.ts";
import { scratchOf } from "./scratch.ts";
import type { Argument, Program } from "./program.ts";
import { newTensor, type Tensor, type TensorType } from "./tensor.ts";

export type { Precision } from "../../core/precision.ts";
export type MatrixFormat = "f32" | "bf16" | "i8";

const formatIds: Readonly<Record<MatrixFormat, number>> = { f32: 0, bf16: 1, i8: 2 };
/** The id of integers whose scales lie along the depth. */
const integersByDepth = 3;
/** The widest panel of any instruction set: what scratch memory is made for. */
const panelColumns = 64;

/** depth x columns, zero at first; `pack` writes parts of it. */
export interface Matrix {
  readonly depth: number;
  /** `depth`, rounded up to 2: what the kernels know of. The row that this adds is zero. */
  readonly paddedDepth: number;
  readonly columns: number;
  readonly format: MatrixFormat;
  readonly panels: Tensor<TensorType>;
  /** Of integers: one for each column, rounded up to 2; or, of a transposed matrix, for each depth. */
  readonly scales: Tensor | null;
  readonly scalesAlong: "columns" | "depth";
}

export function newMatrix(
  device: Device,
  depth: number,
  columns: number,
  format: MatrixFormat,
): Matrix {
  const paddedDepth = evenly(depth);
  const panels = newTensor(device, paddedDepth, roundUp(columns, 16), format);
  const scales = format === "i8" ? newTensor(device, 1, evenly(columns)) : null;
  return { depth, paddedDepth, columns, format, panels, scales, scalesAlong: "columns" };
}

/** What `transpose` writes `matrix` into; scales are common to both. */
export function newTransposed(device: Device, { columns, depth, format, scales }: Matrix): Matrix {
  return { ...newMatrix(device, columns, depth, format), scales, scalesAlong: "depth" };
}

const roundUp = (count: number, unit: number): number => Math.ceil(count / unit) * unit;
const evenly = (depth: number): number => roundUp(depth, 2);

export interface PackOptions {
  /** Element [n, k] goes to depth k of column n; transposed, to depth n of column k. @default false */
  readonly transposed?: boolean;
  /** Where in the matrix the first element goes. @default 0 */
  readonly depth?: number;
  readonly column?: number;
  /** @default 1 */
  readonly factor?: number;
}

/**
 * Writes `rows` [n, k], as models store weights ([outputs, inputs]), into a part of `matrix`. One of integers takes whole
 * columns, which it rounds.
 */
export function pack(
  program: Program,
  rows: Tensor | Tensor<"bf16">,
  matrix: Matrix,
  { transposed = false, depth = 0, column = 0, factor = 1 }: PackOptions = {},
): void {
  const [deep, wide] = transposed ? [rows.rows, rows.columns] : [rows.columns, rows.rows];
  const isPart = transposed || depth !== 0 || factor !== 1 || deep !== matrix.depth;
  if (
    depth + deep > matrix.depth ||
    column + wide > matrix.columns ||
    (matrix.format === "i8" && (isPart || matrix.scalesAlong === "depth"))
  )
    throw new RangeError(
      `[${rows.rows}, ${rows.columns}] does not fit at [${depth}, ${column}] of [${matrix.depth}, ${matrix.columns}] ${matrix.format}.`,
    );
  const from = [rows, rows.type === "bf16", rows.rows, rows.columns, rows.stride] as const;
  const { panels, format } = matrix;
  const shape = [matrix.paddedDepth, matrix.columns] as const;
  if (format === "i8") program.add("quantize", ...from, panels, ...shape, column, matrix.scales);
  else
    program.add(
      "pack",
      ...from,
      transposed,
      panels,
      formatIds[format],
      ...shape,
      depth,
      column,
      factor,
    );
}

/** Writes `matrix`, transposed, over all of `result`. */
export function transpose(program: Program, matrix: Matrix, result: Matrix): void {
  const { depth, paddedDepth, columns, format } = matrix;
  if (result.depth !== columns || result.columns !== depth || result.format !== format)
    throw new RangeError(`[${depth}, ${columns}] is not [${result.columns}, ${result.depth}].`);
  if (format === "i8" && (result.scales !== matrix.scales || result.scalesAlong !== "depth"))
    throw new RangeError("The transpose of a matrix of integers must share its scales.");
  const [from, to] = [matrix.panels, result.panels];
  program.add("transpose", paddedDepth, columns, from, formatIds[format], to, result.paddedDepth);
}

/** x [rows, depth] matrix. `x` may have fewer columns than the matrix is deep: then only that much is multiplied. */
interface Operand {
  readonly x: Tensor;
  readonly matrix: Matrix;
}

export interface ProductOptions {
  readonly precision: Precision;
  /** Adds to `result` in place of replacing it. @default false */
  readonly accumulate?: boolean;
  /** [columns], added to each row. @default none */
  readonly bias?: Tensor | null;
  /** A second, shallow product that is added: an adapter's. Not of integers. @default none */
  readonly second?: Operand | null;
}

const narrowPurposes = ["narrow 0", "narrow 1"] as const;

/** result [rows, columns] = x matrix, plus what the options add. */
export function product(
  program: Program,
  x: Tensor,
  matrix: Matrix,
  result: Tensor,
  options: ProductOptions,
): void {
  const { device } = program;
  const { precision, accumulate = false, bias = null, second = null } = options;
  for (const operand of [{ x, matrix }, second ?? { x, matrix }]) checkOperand(operand, result);
  if (second !== null && second.matrix.format !== "f32" && second.x.columns % 2 !== 0)
    throw new RangeError(
      `A second product of depth ${second.x.columns}, which is odd, needs a matrix in f32.`,
    );
  if (second?.matrix.format === "i8") throw new RangeError("A second product is not of integers.");
  if (bias !== null && bias.columns !== matrix.columns)
    throw new RangeError(`A bias of ${bias.columns} does not fit ${matrix.columns} columns.`);
  const operand = (place: 0 | 1, { x: a, matrix: b }: Operand): readonly Argument[] => [
    a,
    a.stride,
    a.columns,
    b.panels,
    b.paddedDepth,
    b.scalesAlong === "depth" && b.format === "i8" ? integersByDepth : formatIds[b.format],
    scratchOf(
      device,
      narrowPurposes[place],
      roundUp(x.rows, 16) * roundUp(b.paddedDepth, 32),
      "bf16",
    ),
  ];
  program.add(
    "product",
    x.rows,
    matrix.columns,
    result,
    result.stride,
    accumulate,
    bias,
    matrix.scales,
    precision === "bf16",
    scratchOf(device, "panels", device.threads * matrix.paddedDepth * panelColumns),
    ...operand(0, { x, matrix }),
    ...(second === null ? [null, 0, 0, null, 0, 0, null] : operand(1, second)),
  );
}

function checkOperand({ x, matrix }: Operand, result: Tensor): void {
  if (x.columns > matrix.depth || result.columns !== matrix.columns || result.rows !== x.rows)
    throw new RangeError(
      `[${x.rows}, ${x.columns}] by [${matrix.depth}, ${matrix.columns}] is not [${result.rows}, ${result.columns}].`,
    );
}
