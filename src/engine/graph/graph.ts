/**
 * A computation under construction: values, nodes and the tape that reverse-mode differentiation
 * walks. Operations are in `ops.ts`; this file does not know any of them.
 */
import { lastThingsLast, liveNodes } from "./node-order.ts";
import {
  encodeModel,
  type Attribute,
  type Dim,
  type DType,
  type ExternalData,
  type GraphSpec,
  type NodeSpec,
  type TensorSpec,
  type ValueSpec,
} from "../onnx/model.ts";

/** The result of a node, an input or a constant. */
export interface Value {
  readonly graph: Graph;
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly Dim[];
  /** A gradient can flow back through it. */
  readonly requiresGrad: boolean;
}

/** Vector-Jacobian product: the gradient of the output to those of the inputs; null = none flows. */
export type Vjp = (gradient: Value) => readonly (Value | null)[];

/** One recorded differentiable operation. */
export interface TapeEntry {
  readonly outputs: readonly Value[];
  readonly inputs: readonly Value[];
  /** Takes a gradient per output; called where at least one has one. */
  readonly vjp: (gradients: readonly (Value | undefined)[]) => readonly (Value | null)[];
}

export interface NodeOptions {
  readonly dtype?: DType;
  readonly attributes?: Readonly<Record<string, Attribute>>;
  readonly domain?: "" | "com.microsoft";
}

/** The result of one iteration of a loop. */
export interface LoopTurn {
  /** As many as were passed in, with the same shapes; passed to the next iteration. */
  readonly carried: readonly Value[];
  /** Collected over all iterations; each must have the same shape in every iteration. */
  readonly stacked: readonly Value[];
}

/**
 * Which operators a graph may be made of: `fused` includes those that the runtime has for CPUs
 * (products with transposed factors, a normalization that also returns its divisor), `standard` only those
 * that every execution provider computes correctly.
 */
export type Operators = "fused" | "standard";

export interface GraphOptions {
  /** @default "fused" */
  readonly operators?: Operators;
  /** The graph around a loop's body: its values can be used inside, and it holds the constants. */
  readonly outer?: Graph;
}

export class Graph {
  readonly operators: Operators;
  readonly #outer: Graph | undefined;
  readonly #nodes: NodeSpec[] = [];
  readonly #constants: TensorSpec[] = [];
  readonly #constantByKey = new Map<string, Value>();
  readonly #inputs: ValueSpec[] = [];
  readonly #outputs: ValueSpec[] = [];
  #tape: TapeEntry[] = [];
  /** Where each run-time size can be read: its first appearance in an input. */
  readonly #dimSources = new Map<string, { value: Value; axis: number }>();
  #nextId = 0;

  constructor({ operators, outer }: GraphOptions = {}) {
    this.operators = operators ?? outer?.operators ?? "fused";
    this.#outer = outer;
  }

  #value(name: string, dtype: DType, shape: readonly Dim[], requiresGrad: boolean): Value {
    return { graph: this, name, dtype, shape, requiresGrad };
  }

  #freshName(): string {
    return this.#outer === undefined ? `v${this.#nextId++}` : this.#outer.#freshName();
  }

  input(name: string, dtype: DType, shape: readonly Dim[], requiresGrad = false): Value {
    this.#inputs.push({ name, dtype, shape });
    const value = this.#value(name, dtype, shape, requiresGrad);
    for (const [axis, dim] of shape.entries()) {
      if (typeof dim === "string" && !this.#dimSources.has(dim))
        this.#dimSources.set(dim, { value, axis });
    }
    return value;
  }

  /** A tensor that is part of the model: its bytes, or a position in a file. */
  constant(dtype: DType, shape: readonly number[], data: Uint8Array | ExternalData): Value {
    if (this.#outer !== undefined) return this.#outer.constant(dtype, shape, data);
    const name = this.#freshName();
    this.#constants.push({ name, dtype, shape, data });
    return this.#value(name, dtype, shape, false);
  }

  #shared(key: string, make: () => Value): Value {
    if (this.#outer !== undefined) return this.#outer.#shared(key, make);
    const known = this.#constantByKey.get(key);
    if (known !== undefined) return known;
    const value = make();
    this.#constantByKey.set(key, value);
    return value;
  }

  scalar(value: number): Value {
    return this.#shared(`f${value}`, () =>
      this.constant("float32", [], bytesOf(Float32Array.of(value))),
    );
  }

  double(value: number): Value {
    return this.#shared(`e${value}`, () =>
      this.constant("float64", [], bytesOf(Float64Array.of(value))),
    );
  }

  /** An unsigned 8-bit scalar. */
  byte(value: number): Value {
    return this.#shared(`b${value}`, () => this.constant("uint8", [], Uint8Array.of(value)));
  }

  /** [1, width] */
  zeroRow(width: number): Value {
    return this.#shared(`z${width}`, () =>
      this.constant("float32", [1, width], bytesOf(new Float32Array(width))),
    );
  }

  /** A constant list of int64, as axes, shapes and slice bounds require. */
  integers(...values: readonly number[]): Value {
    return this.#shared(`i${values.join()}`, () =>
      this.constant("int64", [values.length], bytesOf(BigInt64Array.from(values, BigInt))),
    );
  }

  /**
   * A shape as a run-time list of int64. At most one of its sizes may be absent from the inputs; it is
   * inferred.
   */
  shapeVector(shape: readonly Dim[]): Value {
    const unknown = shape.filter((dim) => typeof dim === "string");
    if (unknown.length <= 1) {
      return this.integers(...shape.map((dim) => (typeof dim === "string" ? -1 : dim)));
    }
    return this.#shared(`s${shape.join()}`, () => {
      const inferred = unknown.filter((dim) => !this.#dimSources.has(dim));
      if (inferred.length > 1) throw new Error(`Sizes ${inferred.join(", ")} are in no input.`);
      const parts = shape.map((dim) => {
        if (typeof dim === "number") return this.integers(dim);
        return this.#dimSources.has(dim) ? this.sizeOf(dim) : this.integers(-1);
      });
      return this.node("Concat", parts, [shape.length], {
        dtype: "int64",
        attributes: { axis: 0 },
      });
    });
  }

  /** A run-time size as a list of one int64. */
  sizeOf(dim: string): Value {
    return this.#shared(`d${dim}`, () => {
      const source = this.#dimSources.get(dim);
      if (source === undefined) throw new Error(`No input has a dimension named "${dim}".`);
      const shape = this.#shared(`h${source.value.name}`, () =>
        this.node("Shape", [source.value], [source.value.shape.length], { dtype: "int64" }),
      );
      return this.node("Gather", [shape, this.integers(source.axis)], [1], {
        dtype: "int64",
        attributes: { axis: 0 },
      });
    });
  }

  /** A node with one output, not differentiable unless `record` defines how. */
  node(
    op: string,
    inputs: readonly Value[],
    shape: readonly Dim[],
    options: NodeOptions = {},
  ): Value {
    const [first] = this.nodes(op, inputs, [shape], options);
    return first as Value;
  }

  nodes(
    op: string,
    inputs: readonly Value[],
    shapes: readonly (readonly Dim[])[],
    options: NodeOptions = {},
  ): readonly Value[] {
    const outputs = shapes.map((shape) =>
      this.#value(this.#freshName(), options.dtype ?? "float32", shape, false),
    );
    this.#nodes.push({
      op,
      inputs: inputs.map((input) => input.name),
      outputs: outputs.map((output) => output.name),
      attributes: options.attributes ?? {},
      domain: options.domain ?? "",
    });
    return outputs;
  }

  /**
   * Runs a body `trips` (a scalar, int64, known at run time) times. The body may use values from
   * outside; its nodes must be made by the graph that `build` gets. Not differentiable unless
   * `record` defines how.
   * @returns the values carried out of the last iteration, and those stacked, [iterations, ...shape].
   */
  loop(
    trips: Value,
    carried: readonly Value[],
    build: (body: Graph, turn: Value, carried: readonly Value[]) => LoopTurn,
  ): LoopTurn {
    const body = new Graph({ outer: this });
    const turn = body.input(this.#freshName(), "int64", []);
    const resume = body.input(this.#freshName(), "bool", []);
    const inner = carried.map(({ dtype, shape }) => body.input(this.#freshName(), dtype, shape));
    const result = build(body, turn, inner);
    for (const value of [resume, ...result.carried, ...result.stacked])
      body.output(this.#freshName(), value);
    const always = this.node("Equal", [trips, trips], [], { dtype: "bool" });
    const turns = this.#freshName();
    const outputs = this.nodes(
      "Loop",
      [trips, always, ...carried],
      [
        ...result.carried.map(({ shape }) => shape),
        ...result.stacked.map(({ shape }) => [turns, ...shape]),
      ],
      { attributes: { body: { graph: body.#spec } } },
    );
    return {
      carried: outputs.slice(0, carried.length),
      stacked: outputs.slice(carried.length),
    };
  }

  /** Makes `output` differentiable with respect to `inputs`. */
  record(output: Value, inputs: readonly Value[], vjp: Vjp): Value {
    const [tracked] = this.recordAll([output], inputs, ([gradient]) => vjp(gradient!));
    return tracked!;
  }

  /** The same for an operation with several outputs. */
  recordAll(
    outputs: readonly Value[],
    inputs: readonly Value[],
    vjp: TapeEntry["vjp"],
  ): readonly Value[] {
    if (!inputs.some((input) => input.requiresGrad)) return outputs;
    const tracked = outputs.map(({ name, dtype, shape }) => this.#value(name, dtype, shape, true));
    this.#tape.push({ outputs: tracked, inputs, vjp });
    return tracked;
  }

  output(name: string, value: Value): void {
    this.#nodes.push({
      op: "Identity",
      inputs: [value.name],
      outputs: [name],
      attributes: {},
      domain: "",
    });
    this.#outputs.push({ name, dtype: value.dtype, shape: value.shape });
  }

  /** Differentiable operations, in order. */
  get tape(): readonly TapeEntry[] {
    return this.#tape;
  }

  /** Builds with a separate tape; the graph's tape does not see it. */
  apart(build: () => Value): { readonly value: Value; readonly tape: readonly TapeEntry[] } {
    const outer = this.#tape;
    const tape: TapeEntry[] = [];
    this.#tape = tape;
    try {
      return { value: build(), tape };
    } finally {
      this.#tape = outer;
    }
  }

  get #spec(): GraphSpec {
    const outputs = this.#outputs.map(({ name }) => name);
    return {
      nodes: lastThingsLast(liveNodes(this.#nodes, outputs), outputs),
      constants: this.#constants,
      inputs: this.#inputs,
      outputs: this.#outputs,
    };
  }

  /** The finished model. */
  encode(): Uint8Array {
    return encodeModel(this.#spec);
  }
}

export function bytesOf(array: Float32Array | Float64Array | BigInt64Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
