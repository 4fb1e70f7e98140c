/**
 * AdamW with decoupled weight decay (arXiv:1711.05101) and clipping by global norm, in place.
 *
 *   m = b1 m + (1 - b1) g      v = b2 v + (1 - b2) g^2
 *   w = w - lr (m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + eps) + decay w)
 */
import type { OptimSpec } from "../../core/loss.ts";
import { NumericsError } from "../../core/errors.ts";
import type { ParameterSpec } from "../model/parameters.ts";

export interface AdamState {
  readonly firstMoment: Map<string, Float32Array>;
  readonly secondMoment: Map<string, Float32Array>;
  /** Steps taken. */
  step: number;
}

export function createAdamState(parameters: readonly ParameterSpec[]): AdamState {
  const zeros = (): Map<string, Float32Array> =>
    new Map(
      parameters.map(({ name, shape }) => [
        name,
        new Float32Array(shape.reduce((n, dim) => n * dim, 1)),
      ]),
    );
  return { firstMoment: zeros(), secondMoment: zeros(), step: 0 };
}

/** L2 norm over all gradients. @throws NumericsError naming the tensor that is not finite. */
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
 * One step on `weights`; leaves them alone when a gradient is not finite.
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
  const clip = optim.maxGradNorm > 0 && norm > optim.maxGradNorm ? optim.maxGradNorm / norm : 1;
  state.step += 1;
  const { beta1, beta2, eps, learningRate } = optim;
  const correction1 = 1 - beta1 ** state.step;
  const correction2 = 1 - beta2 ** state.step;
  for (const { name, decay } of parameters) {
    const w = weights.get(name)!;
    const g = gradients.get(name)!;
    const m = state.firstMoment.get(name)!;
    const v = state.secondMoment.get(name)!;
    const shrink = 1 - learningRate * (decay ? optim.weightDecay : 0);
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
  return norm;
}
