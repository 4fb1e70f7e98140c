/**
 * A critic: one linear layer on the hidden states that the policy's logits are made of. Its products are so
 * small that they need no kernel; each is summed in one order.
 */
import { type CriticSpec, valueTerm } from "../../core/loss/value-loss.ts";
import type { OptimSpec } from "../../core/loss/loss.ts";
import type { ParameterSpec } from "../model/parameters.ts";
import { type AdamState, adamStep, createAdamState, globalNorm } from "../optimizer/adamw.ts";

/** One row's trained tokens, [n] each; `places` are those of their hidden states. */
export interface ValueTargets {
  readonly places: Int32Array;
  readonly values: Float64Array;
  readonly returns: Float64Array;
  /** On every term: the aggregation. */
  readonly factor: number;
}

export class ValueHead {
  /** [1, H] and [1, 1]; zero at first, so that values are 0. */
  readonly parameters: readonly ParameterSpec[];
  readonly data: ReadonlyMap<string, Float32Array>;
  readonly adam: AdamState;
  readonly #gradients: ReadonlyMap<string, Float32Array>;
  #spec: CriticSpec | null = null;

  constructor(hiddenSize: number) {
    this.parameters = [
      { name: "value.weight", shape: [1, hiddenSize], decay: false },
      { name: "value.bias", shape: [1], decay: false },
    ];
    const zeros = (): Map<string, Float32Array> =>
      new Map([
        ["value.weight", new Float32Array(hiddenSize)],
        ["value.bias", new Float32Array(1)],
      ]);
    [this.data, this.#gradients] = [zeros(), zeros()];
    this.adam = createAdamState(this.parameters);
  }

  /** Since the last step. */
  get gradients(): ReadonlyMap<string, Float32Array> {
    return this.#gradients;
  }

  get #weight(): Float32Array {
    return this.data.get("value.weight")!;
  }

  /** Of hidden states [R, H], at `places`. */
  values(states: Float32Array, places: ArrayLike<number>): Float64Array {
    const weight = this.#weight;
    const [bias] = this.data.get("value.bias")!;
    return Float64Array.from(places, (place) => {
      const start = place * weight.length;
      let sum = 0;
      for (let h = 0; h < weight.length; h++) sum += states[start + h]! * weight[h]!;
      return sum + bias!;
    });
  }

  /**
   * Adds the gradients of the value loss of one row; with `spec.sharedCoef` also those of its hidden states, to
   * `ofStates` [R, H].
   */
  learn(
    states: Float32Array,
    { places, values, returns, factor }: ValueTargets,
    spec: CriticSpec,
    ofStates: Float32Array | null,
  ): { readonly terms: number; readonly clipped: number } {
    this.#spec = spec;
    const weight = this.#weight;
    const ofWeight = this.#gradients.get("value.weight")!;
    const ofBias = this.#gradients.get("value.bias")!;
    let [terms, clipped] = [0, 0];
    for (const [i, now] of this.values(states, places).entries()) {
      const { term, gradient, isClipped } = valueTerm(now, values[i]!, returns[i]!, spec.clip);
      terms += term;
      clipped += isClipped ? 1 : 0;
      const own = factor * gradient;
      const start = places[i]! * weight.length;
      for (let h = 0; h < weight.length; h++) ofWeight[h]! += own * states[start + h]!;
      ofBias[0]! += own;
      if (ofStates === null) continue;
      const shared = spec.sharedCoef * own;
      for (let h = 0; h < weight.length; h++) ofStates[start + h]! += shared * weight[h]!;
    }
    return { terms, clipped };
  }

  /** Whether there is anything to `step` on. */
  get hasGradients(): boolean {
    return this.#spec !== null;
  }

  /** @throws NumericsError where a gradient is not finite */
  check(): void {
    globalNorm(this.#gradients);
  }

  /** Applies the gradients and clears them. @returns their norm before clipping */
  step(optim: OptimSpec): number {
    const { learningRate } = this.#spec!;
    const own = { ...optim, learningRate, weightDecay: 0 };
    const norm = adamStep(this.parameters, this.data, this.#gradients, this.adam, own);
    this.clear();
    return norm;
  }

  clear(): void {
    for (const gradient of this.#gradients.values()) gradient.fill(0);
    this.#spec = null;
  }
}
