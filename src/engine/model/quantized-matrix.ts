/**
 * Matrices as 8-bit integers for sampling: a quarter of the memory to read for each token. Symmetric,
 * one scale for each 32 inputs of an output, in the layout of the runtime's `MatMulNBits`.
 */
import { type Graph, type Value, bytesOf } from "../graph/graph.ts";

const blockInputs = 32;
/** The integer that represents 0. */
const zeroPoint = 128;
const largest = 127;
/** Added before truncation to an integer. */
const rounding = zeroPoint + 0.5;
/**
 * Inputs are quantized as well, block by block, for integer products; 0 would convert weights back to
 * floats.
 */
const integerProducts = 4;

export interface QuantizedMatrix {
  readonly outputs: number;
  readonly inputs: number;
  /** [outputs, blocks, 32] */
  readonly values: Uint8Array;
  /** [outputs, blocks] */
  readonly scales: Float32Array;
}

/** Rounds to the nearest of 255 steps; `weights` is [outputs, inputs]. */
export function quantizeMatrix(
  weights: Float32Array,
  [outputs, inputs]: readonly [number, number],
): QuantizedMatrix {
  const blocks = Math.ceil(inputs / blockInputs);
  const values = new Uint8Array(outputs * blocks * blockInputs).fill(zeroPoint);
  const scales = new Float32Array(outputs * blocks);
  for (let block = 0; block < outputs * blocks; block++) {
    const first = (block % blocks) * blockInputs;
    const from = Math.floor(block / blocks) * inputs + first;
    const count = Math.min(blockInputs, inputs - first);
    let peak = 0;
    for (let i = 0; i < count; i++) peak = Math.max(peak, Math.abs(weights[from + i]!));
    if (peak === 0) continue;
    const scale = peak / largest;
    scales[block] = scale;
    for (let i = 0; i < count; i++)
      values[block * blockInputs + i] = weights[from + i]! / scale + rounding;
  }
  return { outputs, inputs, values, scales };
}

/** A matrix as constants of a graph. */
export interface DeclaredQuantizedMatrix {
  /** x W^T; x: [N, inputs] -> [N, outputs]. Not differentiable. */
  times(x: Value): Value;
}

export function declareQuantizedMatrix(
  graph: Graph,
  { outputs, inputs, values, scales }: QuantizedMatrix,
): DeclaredQuantizedMatrix {
  const blocks = Math.ceil(inputs / blockInputs);
  const integers = graph.constant("uint8", [outputs, blocks, blockInputs], values);
  const factors = graph.constant("float32", [outputs * blocks], bytesOf(scales));
  return {
    times: (x) =>
      graph.node("MatMulNBits", [x, integers, factors], [x.shape[0]!, outputs], {
        domain: "com.microsoft",
        attributes: {
          K: inputs,
          N: outputs,
          bits: 8,
          block_size: blockInputs,
          accuracy_level: integerProducts,
        },
      }),
  };
}
