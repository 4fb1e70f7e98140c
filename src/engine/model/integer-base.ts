/**
 * The frozen linear layers of a policy as 8-bit integers for products: those with the same input are one
 * matrix. Stored next to the other weights, so that all graphs share one copy.
 */
import { open } from "node:fs/promises";
import { join } from "node:path";
import { bytesOf, type Graph, type Value } from "../graph/graph.ts";
import { zeroPoint, type IntegerKernel, type IntegerMatrix } from "../graph/integer-product.ts";
import type { ExternalData } from "../onnx/model.ts";
import type { Int8Matrix } from "./int8-matrix.ts";
import type { ModelConfig } from "./model-config.ts";
import { layerName } from "./parameters.ts";

/** Integers in memory, or in a file that is mapped. */
type Stored = Uint8Array | ExternalData;

export interface IntegerGroup {
  /** Linear layers with the same input, in the order of their outputs. */
  readonly names: readonly string[];
  readonly widths: readonly number[];
  readonly inputs: number;
  readonly outputs: number;
  readonly scales: Float32Array;
  /** [inputs, outputs] */
  readonly forward: Stored;
  /** [outputs, inputs] */
  readonly backward: Stored;
}

export interface IntegerBase {
  readonly kernel: IntegerKernel;
  /** By the name of each of their layers. */
  readonly groups: ReadonlyMap<string, IntegerGroup>;
}

const file = "integers.bin";
/** Mapped files start at a page. */
const alignment = 4096;

function groupsOf(config: ModelConfig): readonly (readonly string[])[] {
  const parts = [
    ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"],
    ["self_attn.o_proj"],
    ["mlp.gate_proj", "mlp.up_proj"],
    ["mlp.down_proj"],
  ];
  return Array.from({ length: config.layers }, (_, layer) =>
    parts.map((group) => group.map((part) => layerName(layer, part))),
  ).flat();
}

/**
 * @param matrices emptied as they are stored
 * @param folder where the file is made; null keeps the integers in memory
 */
export async function storeIntegers(
  config: ModelConfig,
  matrices: Map<string, Int8Matrix>,
  kernel: IntegerKernel,
  folder: string | null,
): Promise<IntegerBase> {
  const groups = new Map<string, IntegerGroup>();
  const handle = folder === null ? null : await open(join(folder, file), "w").catch(() => null);
  let offset = 0;
  const store = async (bytes: Uint8Array): Promise<Stored> => {
    if (handle === null) return bytes;
    const written = await handle.write(bytes, 0, bytes.length, offset).catch(() => null);
    if (written?.bytesWritten !== bytes.length) return bytes;
    const stored = { file, offset, length: bytes.length };
    offset += Math.ceil(bytes.length / alignment) * alignment;
    return stored;
  };
  try {
    for (const names of groupsOf(config)) {
      const members = names.map((name) => matrices.get(name)!);
      const { inputs } = members[0]!;
      const widths = members.map(({ outputs }) => outputs);
      const rows = joinRows(members, kernel);
      const group: IntegerGroup = {
        names,
        widths,
        inputs,
        outputs: rows.length / inputs,
        scales: Float32Array.from(members.flatMap(({ scales }) => [...scales])),
        backward: await store(rows),
        forward: await store(transposed(rows, inputs)),
      };
      for (const name of names) {
        groups.set(name, group);
        matrices.delete(name);
      }
    }
  } finally {
    await handle?.close();
  }
  return { kernel, groups };
}

/** [outputs, inputs] of all members, as the kernel takes them. */
function joinRows(members: readonly Int8Matrix[], kernel: IntegerKernel): Uint8Array {
  const joined = new Uint8Array(members.reduce((sum, { integers }) => sum + integers.length, 0));
  let at = 0;
  for (const { integers } of members) {
    joined.set(new Uint8Array(integers.buffer, integers.byteOffset, integers.length), at);
    at += integers.length;
  }
  // Modulo 256, this is the same for a negative integer as adding to its absolute value.
  if (kernel === "uint8") for (let i = 0; i < joined.length; i++) joined[i]! += zeroPoint;
  return joined;
}

/** Rows and columns of a block that fits into the processor's fastest cache. */
const block = 64;

function transposed(rows: Uint8Array, inputs: number): Uint8Array {
  const outputs = rows.length / inputs;
  const result = new Uint8Array(rows.length);
  for (let top = 0; top < outputs; top += block) {
    const bottom = Math.min(top + block, outputs);
    for (let left = 0; left < inputs; left += block) {
      const right = Math.min(left + block, inputs);
      for (let i = left; i < right; i++)
        for (let row = top; row < bottom; row++)
          result[i * outputs + row] = rows[row * inputs + i]!;
    }
  }
  return result;
}

/** The matrices of a group in a graph. */
export function declareIntegers(
  graph: Graph,
  kernel: IntegerKernel,
  { inputs, outputs, scales, forward, backward }: IntegerGroup,
): IntegerMatrix {
  const once = (make: () => Value): (() => Value) => {
    let made: Value | undefined;
    return () => (made ??= make());
  };
  return {
    kernel,
    inputs,
    outputs,
    scales: graph.constant("float32", [outputs], bytesOf(scales)),
    forward: once(() => graph.constant(kernel, [inputs, outputs], forward)),
    backward: once(() => graph.constant(kernel, [outputs, inputs], backward)),
  };
}
