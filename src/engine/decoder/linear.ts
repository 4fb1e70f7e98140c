/**
 * Linear layers that read the same input, as one product: their outputs are neighbours. Each may have a
 * low-rank adapter (LoRA, arXiv:2106.09685): y = x W' + s (x A') B', its factors next to those of the others.
 */
import type { Device } from "../tensor/device.ts";
import {
  newMatrix,
  newTransposed,
  pack,
  product,
  transpose,
  type Matrix,
  type MatrixFormat,
  type Precision,
} from "../tensor/matrix.ts";
import { outer } from "../tensor/operations/outer.ts";
import type { Program } from "../tensor/program.ts";
import { newTensor, type Tensor } from "../tensor/tensor.ts";
import type { Arena } from "./arena.ts";
import { vectorWriter, type Rows, type RowWriter } from "./weight-rows.ts";

export interface LinearPart {
  /** Of its weight [outputs, inputs]. */
  readonly name: string;
  readonly outputs: number;
  readonly bias: string | null;
  /** Names of its factors; null where it is not adapted. */
  readonly factors: { readonly a: string; readonly b: string } | null;
}

export interface LinearShape {
  readonly inputs: number;
  readonly parts: readonly LinearPart[];
  /** LoRA's rank, and the factor on its update. */
  readonly adapter: { readonly rank: number; readonly scale: number } | null;
}

/** The matrix of all parts, and its transpose once a backward pass needs it. Shared where it is frozen. */
export class BaseMatrix {
  readonly forward: Matrix;
  readonly #device: Device;
  #transposed: Matrix | null = null;
  #isStale = true;

  constructor(device: Device, inputs: number, outputs: number, format: MatrixFormat) {
    this.#device = device;
    this.forward = newMatrix(device, inputs, outputs, format);
  }

  get format(): MatrixFormat {
    return this.forward.format;
  }

  /** @param column of the first of the outputs `rows` [outputs, inputs] */
  write(program: Program, rows: Rows, column: number): void {
    pack(program, rows, this.forward, { column });
    this.#isStale = true;
  }

  transposed(program: Program): Matrix {
    this.#transposed ??= newTransposed(this.#device, this.forward);
    if (this.#isStale) transpose(program, this.forward, this.#transposed);
    this.#isStale = false;
    return this.#transposed;
  }
}

interface Factors {
  /** inputs x (rank of all parts), and its transpose. */
  readonly a: Matrix;
  readonly aTransposed: Matrix;
  /** (rank of all parts) x outputs, block by block, multiplied by the scale; and its transpose. */
  readonly b: Matrix;
  readonly bTransposed: Matrix;
}

/** Gradients by parameter; those of parameters that are not trained are absent. */
export type Gradients = ReadonlyMap<string, Tensor>;

export class Linear {
  readonly shape: LinearShape;
  readonly outputs: number;
  /** Of all adapted parts together. */
  readonly rank: number;
  readonly #precision: Precision;
  readonly #base: BaseMatrix;
  readonly #bias: Tensor | null;
  readonly #factors: Factors | null;

  constructor(
    device: Device,
    shape: LinearShape,
    precision: Precision,
    base: BaseMatrix,
    bias: Tensor | null,
  ) {
    this.shape = shape;
    this.#precision = precision;
    this.#base = base;
    this.#bias = bias;
    this.outputs = base.forward.columns;
    const adapted = shape.parts.filter(({ factors }) => factors !== null).length;
    this.rank = adapted * (shape.adapter?.rank ?? 0);
    // Pairs of bf16 need an even depth.
    const format = precision === "bf16" && this.rank % 2 === 0 ? "bf16" : "f32";
    const matrix = (depth: number, columns: number): Matrix =>
      newMatrix(device, depth, columns, format);
    this.#factors =
      this.rank === 0
        ? null
        : {
            a: matrix(shape.inputs, this.rank),
            aTransposed: matrix(this.rank, shape.inputs),
            b: matrix(this.rank, this.outputs),
            bTransposed: matrix(this.outputs, this.rank),
          };
  }

  /** Of its base. */
  get format(): MatrixFormat {
    return this.#base.format;
  }

  /** Takes over rows of each of its parameters. */
  get writers(): ReadonlyMap<string, RowWriter> {
    const writers = new Map<string, RowWriter>();
    let [column, rank] = [0, 0];
    for (const { name, outputs, bias, factors } of this.shape.parts) {
      const [start, firstRank] = [column, rank];
      writers.set(name, (program, rows, first) => {
        this.#base.write(program, rows, start + first);
      });
      if (bias !== null) writers.set(bias, vectorWriter(this.#bias!.columnsFrom(start, outputs)));
      if (factors !== null) {
        this.#addFactorWriters(writers, factors, start, firstRank);
        rank += this.shape.adapter!.rank;
      }
      column += outputs;
    }
    return writers;
  }

  /** @param start the part's first output. @param rank the first of its ranks */
  #addFactorWriters(
    writers: Map<string, RowWriter>,
    names: { readonly a: string; readonly b: string },
    start: number,
    rank: number,
  ): void {
    const { a, aTransposed, b, bTransposed } = this.#factors!;
    const factor = this.shape.adapter!.scale;
    writers.set(names.a, (program, rows, first) => {
      pack(program, rows, a, { column: rank + first });
      pack(program, rows, aTransposed, { transposed: true, depth: rank + first });
    });
    writers.set(names.b, (program, rows, first) => {
      const column = start + first;
      pack(program, rows, b, { depth: rank, column, factor });
      pack(program, rows, bTransposed, { transposed: true, depth: column, column: rank, factor });
    });
  }

  /** y [N, outputs] (+)= of x [N, inputs]; `narrow` [N, rank] is kept for the backward pass. */
  forward(
    program: Program,
    x: Tensor,
    y: Tensor,
    {
      narrow,
      accumulate = false,
    }: { readonly narrow: Tensor | null; readonly accumulate?: boolean },
  ): void {
    const precision = this.#precision;
    const factors = narrow === null ? null : this.#factors;
    if (factors !== null) product(program, x, factors.a, narrow!, { precision });
    product(program, x, this.#base.forward, y, {
      precision,
      accumulate,
      bias: this.#bias,
      second: factors === null ? null : { x: narrow!, matrix: factors.b },
    });
  }

  /** y += the update of its adapter: after `forward` without `narrow`, the bits are those of one with it. */
  addUpdate(program: Program, x: Tensor, y: Tensor, narrow: Tensor): void {
    if (this.#factors === null) return;
    const precision = this.#precision;
    product(program, x, this.#factors.a, narrow, { precision });
    product(program, narrow, this.#factors.b, y, { precision, accumulate: true });
  }

  /** dx [N, inputs] from dy [N, outputs]; adds to the gradients of its parameters. */
  backward(
    program: Program,
    {
      x,
      narrow,
      dy,
      dx,
    }: {
      readonly x: Tensor;
      readonly narrow: Tensor | null;
      readonly dy: Tensor;
      readonly dx: Tensor;
    },
    gradients: Gradients,
    arena: Arena,
  ): void {
    const precision = this.#precision;
    const mark = arena.mark;
    const factors = narrow === null ? null : this.#factors;
    const dNarrow = factors === null ? null : arena.take(dy.rows, this.rank);
    if (factors !== null) product(program, dy, factors.bTransposed, dNarrow!, { precision });
    this.#addGradients(program, { x, narrow, dy, dNarrow }, gradients);
    product(program, dy, this.#base.transposed(program), dx, {
      precision,
      second: factors === null ? null : { x: dNarrow!, matrix: factors.aTransposed },
    });
    arena.release(mark);
  }

  #addGradients(
    program: Program,
    {
      x,
      narrow,
      dy,
      dNarrow,
    }: Readonly<Record<"x" | "dy", Tensor>> & Readonly<Record<"narrow" | "dNarrow", Tensor | null>>,
    gradients: Gradients,
  ): void {
    let [column, first] = [0, 0];
    for (const { name, outputs, bias, factors } of this.shape.parts) {
      const own = dy.columnsFrom(column, outputs);
      const weight = gradients.get(name);
      if (weight !== undefined) outer(program, own, x, weight, { accumulate: true });
      const ofBias = bias === null ? undefined : gradients.get(bias);
      if (ofBias !== undefined)
        outer(program, ones(program.device, dy.rows), own, ofBias, { accumulate: true });
      if (factors !== null) {
        const { rank, scale } = this.shape.adapter!;
        const [a, b] = [gradients.get(factors.a), gradients.get(factors.b)];
        if (a !== undefined)
          outer(program, dNarrow!.columnsFrom(first, rank), x, a, { accumulate: true });
        if (b !== undefined)
          outer(program, own, narrow!.columnsFrom(first, rank), b, {
            factor: scale,
            accumulate: true,
          });
        first += rank;
      }
      column += outputs;
    }
  }
}

/** [rows, 1], for sums over rows. */
function ones(device: Device, rows: number): Tensor {
  const tensor = newTensor(device, rows, 1);
  tensor.data.fill(1);
  return tensor;
}
