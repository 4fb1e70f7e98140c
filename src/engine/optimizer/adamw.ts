/**
 * AdamW with decoupled weight decay (arXiv:1711.05101) and clipping by global norm, in place.
 *
 *   m = b1 m + (1 - b1) g      v = b2 v + (1 - b2) g^2
 *   w = w - lr (m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + eps) + decay w)
 */
import type { OptimSpec } from "../../core/loss/loss.ts";
import { NumericsError } from "../../core/errors.ts";
import type { ParameterSpec } from "../model/parameters.ts";
import {
  readBlock,
  writeBlock,
  xorshift,
  zeroMoments,
  type MomentPrecision,
  type Moments,
} from "./moments.ts";

export interface AdamState {
  readonly firstMoment: Map<string, Moments>;
  readonly secondMoment: Map<string, Moments>;
  /** Steps taken. */
  step: number;
}

/** @param precision of the moments. @default "float32" */
export function createAdamState(
  parameters: readonly ParameterSpec[],
  precision: MomentPrecision = "float32",
): AdamState {
  const zeros = (): Map<string, Moments> =>
    new Map(
      parameters.map(({ name, shape }) => [
        name,
        zeroMoments(
          shape.reduce((n, dim) => n * dim, 1),
          precision,
        ),
      ]),
    );
  return { firstMoment: zeros(), secondMoment: zeros(), step: 0 };
}

/** L2 norm of all gradients. @throws NumericsError naming the tensor that is not finite. */
export function globalNorm(gradients: ReadonlyMap<string, Float32Array>): number {
  let total = 0;
  for (const [name, gradient] of gradients) {
    let squares = 0;
    for (let i = 0; i < gradient.length; i++) squares += gradient[i]! * gradient[i]!;
    if (!Number.isFinite(squares)) throw new NumericsError(`The gradient of ${name}`, squares);
    total += squares;
  }
  return Math.sqrt(total);
}

/**
 * One step on `weights`; leaves them unchanged when a gradient is not finite.
 * @returns the gradients' global norm before clipping.
 */
export function adamStep(
  parameters: readonly ParameterSpec[],
  weights: ReadonlyMap<string, Float32Array>,
  gradients: ReadonlyMap<string, Float32Array>,
  state: AdamState,
  optim: OptimSpec,
): number {
  const norm = globalNorm(gradients);
  state.step += 1;
  for (const [p, { name, decay }] of parameters.entries()) {
    const numbers = stepNumbers(optim, norm, state.step, decay);
    const w = weights.get(name)!;
    const g = gradients.get(name)!;
    const m = state.firstMoment.get(name)!;
    const v = state.secondMoment.get(name)!;
    if (m instanceof Float32Array && v instanceof Float32Array) stepBlock(w, g, m, v, numbers);
    else if (m instanceof Uint16Array && v instanceof Uint16Array)
      stepHalves({ w, g, m, v }, numbers, xorshift(state.step * 0x9e3779b1 + p * 0x85ebca77));
  }
  return norm;
}

type StepNumbers = OptimSpec & {
  readonly clip: number;
  readonly shrink: number;
  readonly correction1: number;
  readonly correction2: number;
};

/** @param norm of all gradients. @param step this one's number, from 1 on. @param decay whether the parameter decays */
export function stepNumbers(
  optim: OptimSpec,
  norm: number,
  step: number,
  decay: boolean,
): StepNumbers {
  const { maxGradNorm, learningRate, weightDecay, beta1, beta2 } = optim;
  return {
    ...optim,
    clip: maxGradNorm > 0 && norm > maxGradNorm ? maxGradNorm / norm : 1,
    shrink: 1 - learningRate * (decay ? weightDecay : 0),
    correction1: 1 - beta1 ** step,
    correction2: 1 - beta2 ** step,
  };
}

function stepBlock(
  w: Float32Array,
  g: Float32Array,
  m: Float32Array,
  v: Float32Array,
  { clip, shrink, correction1, correction2, beta1, beta2, eps, learningRate }: StepNumbers,
): void {
  for (let i = 0; i < w.length; i++) {
    const gradient = g[i]! * clip;
    const first = beta1 * m[i]! + (1 - beta1) * gradient;
    const second = beta2 * v[i]! + (1 - beta2) * gradient * gradient;
    m[i] = first;
    v[i] = second;
    w[i] =
      shrink * w[i]! -
      (learningRate * (first / correction1)) / (Math.sqrt(second / correction2) + eps);
  }
}

/** Elements whose moments are converted to 32-bit floats at a time. */
const blockSize = 4096;

/** The same with moments of half the size; weights are updated with them before they are rounded. */
function stepHalves(
  {
    w,
    g,
    m,
    v,
  }: {
    readonly w: Float32Array;
    readonly g: Float32Array;
    readonly m: Uint16Array;
    readonly v: Uint16Array;
  },
  numbers: StepNumbers,
  random: () => number,
): void {
  const scratch = [new Float32Array(blockSize), new Float32Array(blockSize)] as const;
  for (let start = 0; start < w.length; start += blockSize) {
    const end = Math.min(start + blockSize, w.length);
    const [first, second] = [
      scratch[0].subarray(0, end - start),
      scratch[1].subarray(0, end - start),
    ];
    readBlock(m, start, first);
    readBlock(v, start, second);
    stepBlock(w.subarray(start, end), g.subarray(start, end), first, second, numbers);
    writeBlock(m, start, first, random);
    writeBlock(v, start, second, random);
  }
}
