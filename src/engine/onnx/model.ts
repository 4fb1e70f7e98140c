/**
 * ONNX messages (onnx.proto3, IR version 8) on top of the protobuf writer. Field numbers are the
 * published schema's.
 */
import { ProtoWriter } from "../../util/protobuf-writer.ts";

export type DType = "float32" | "float64" | "int64" | "int32" | "bool" | "uint8" | "int8";
/** A number, or the name of a size that is known only at run time. */
export type Dim = number | string;

/** Numbers of element types, as messages and `Cast` use them. */
export const elementTypes: Readonly<Record<DType, number>> = {
  float32: 1,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  bool: 9,
  float64: 11,
};

/** Integers and lists of integers; a float must be marked, since 1 and 1.0 are the same in JavaScript. */
export type Attribute =
  | number
  | readonly number[]
  | string
  | { readonly float: number }
  | { readonly graph: GraphSpec };

const attributeTypes = { float: 1, int: 2, string: 3, graph: 5, ints: 7 } as const;

function attribute(name: string, value: Attribute): ProtoWriter {
  const message = new ProtoWriter().string(1, name);
  if (typeof value === "number") return message.integer(3, value).integer(20, attributeTypes.int);
  if (typeof value === "string") return message.string(4, value).integer(20, attributeTypes.string);
  if ("float" in value) return message.float(2, value.float).integer(20, attributeTypes.float);
  if ("graph" in value)
    return message.message(6, graphMessage(value.graph)).integer(20, attributeTypes.graph);
  for (const item of value) message.integer(8, item);
  return message.integer(20, attributeTypes.ints);
}

export interface NodeSpec {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, Attribute>>;
  /** "" = ai.onnx, "com.microsoft" = the runtime's own operators. */
  readonly domain: string;
}

export interface ValueSpec {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly Dim[];
}

export interface TensorSpec {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly number[];
  /** Little-endian bytes, or where to find them in a file that the runtime maps into memory. */
  readonly data: Uint8Array | ExternalData;
}

export interface ExternalData {
  /** File name, relative to the folder given to the session. */
  readonly file: string;
  readonly offset: number;
  readonly length: number;
}

function node(spec: NodeSpec): ProtoWriter {
  const message = new ProtoWriter();
  for (const input of spec.inputs) message.string(1, input);
  for (const output of spec.outputs) message.string(2, output);
  message.string(4, spec.op);
  for (const [name, value] of Object.entries(spec.attributes))
    message.message(5, attribute(name, value));
  if (spec.domain !== "") message.string(7, spec.domain);
  return message;
}

function entry(key: string, value: string): ProtoWriter {
  return new ProtoWriter().string(1, key).string(2, value);
}

function tensor(spec: TensorSpec): ProtoWriter {
  const message = new ProtoWriter();
  for (const dim of spec.shape) message.integer(1, dim);
  message.integer(2, elementTypes[spec.dtype]).string(8, spec.name);
  if (spec.data instanceof Uint8Array) return message.bytes(9, spec.data);
  return message
    .message(13, entry("location", spec.data.file))
    .message(13, entry("offset", String(spec.data.offset)))
    .message(13, entry("length", String(spec.data.length)))
    .integer(14, 1);
}

function valueInfo(spec: ValueSpec): ProtoWriter {
  const shape = new ProtoWriter();
  for (const dim of spec.shape) {
    const message = new ProtoWriter();
    shape.message(1, typeof dim === "number" ? message.integer(1, dim) : message.string(2, dim));
  }
  const tensorType = new ProtoWriter().integer(1, elementTypes[spec.dtype]).message(2, shape);
  return new ProtoWriter()
    .string(1, spec.name)
    .message(2, new ProtoWriter().message(1, tensorType));
}

export interface GraphSpec {
  readonly nodes: readonly NodeSpec[];
  readonly constants: readonly TensorSpec[];
  readonly inputs: readonly ValueSpec[];
  readonly outputs: readonly ValueSpec[];
}

/** Operator set 17: the last in which ReduceMean and similar operators take their axes as attributes. */
const opset = 17;

function graphMessage(spec: GraphSpec): ProtoWriter {
  const graph = new ProtoWriter();
  for (const item of spec.nodes) graph.message(1, node(item));
  graph.string(2, "policy");
  for (const item of spec.constants) graph.message(5, tensor(item));
  for (const item of spec.inputs) graph.message(11, valueInfo(item));
  for (const item of spec.outputs) graph.message(12, valueInfo(item));
  return graph;
}

/** A serialized ModelProto. */
export function encodeModel(spec: GraphSpec): Uint8Array {
  return new ProtoWriter()
    .integer(1, 8)
    .message(7, graphMessage(spec))
    .message(8, new ProtoWriter().string(1, "").integer(2, opset))
    .message(8, new ProtoWriter().string(1, "com.microsoft").integer(2, 1))
    .finish();
}
