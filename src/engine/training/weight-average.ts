/**
 * An exponential moving average of the trained weights. It costs their size once: to be computed with, it takes the
 * place of what is trained in the decoder for that time.
 */
import { writeTrained, type Policy } from "../decoder/policy.ts";
import { newTensor, type Tensor } from "../tensor/tensor.ts";

export class WeightAverage {
  /** By name. */
  readonly data: ReadonlyMap<string, Float32Array>;
  readonly #policy: Policy;
  readonly #decay: number;
  readonly #tensors: ReadonlyMap<string, Tensor>;

  /** Begins with the weights as they are. @param decay share that is left of it after each step */
  constructor(policy: Policy, decay: number) {
    this.#policy = policy;
    this.#decay = decay;
    this.#tensors = new Map(
      Array.from(policy.parameters, ([name, { rows, columns }]) => [
        name,
        newTensor(policy.device, rows, columns),
      ]),
    );
    this.data = new Map(Array.from(this.#tensors, ([name, { data }]) => [name, data]));
    for (const [name, values] of this.data) values.set(policy.data.get(name)!);
  }

  /** The weights after a step. */
  add(): void {
    const decay = this.#decay;
    for (const [name, average] of this.data) {
      const now = this.#policy.data.get(name)!;
      for (let i = 0; i < average.length; i++)
        average[i] = decay * average[i]! + (1 - decay) * now[i]!;
    }
  }

  /** Runs `work` while the decoder has the averaged weights. Nothing else may use it meanwhile. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const { weights } = this.#policy;
    await writeTrained({ ...this.#policy, parameters: this.#tensors }, weights);
    try {
      return await work();
    } finally {
      await writeTrained(this.#policy, weights);
    }
  }
}
