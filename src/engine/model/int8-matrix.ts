/** Matrices rounded to 8-bit integers: symmetric, with one scale for each output. */

/** Symmetric: -128 is not used. */
const largestInteger = 127;

export interface Int8Matrix {
  readonly outputs: number;
  readonly inputs: number;
  /** [outputs, inputs] */
  readonly integers: Int8Array;
  /** [outputs] */
  readonly scales: Float32Array;
}

/** Rounds each row of `weights` [outputs, inputs] to 255 steps, and replaces it by what it was rounded to. */
export function roundToInt8(
  weights: Float32Array,
  [outputs, inputs]: readonly [number, number],
): Int8Matrix {
  const integers = new Int8Array(outputs * inputs);
  const scales = new Float32Array(outputs);
  for (let row = 0; row < outputs; row++) {
    const from = row * inputs;
    let peak = 0;
    for (let i = from; i < from + inputs; i++) peak = Math.max(peak, Math.abs(weights[i]!));
    const scale = Math.fround(peak / largestInteger);
    scales[row] = scale;
    if (scale === 0) {
      weights.fill(0, from, from + inputs);
      continue;
    }
    for (let i = from; i < from + inputs; i++) {
      const integer = Math.round(weights[i]! / scale);
      integers[i] = integer;
      weights[i] = integer * scale;
    }
  }
  return { outputs, inputs, integers, scales };
}
