/** AdamW with moments as 32-bit floats in native memory: the numbers of `adamw.ts`, bit for bit, on all threads. */
import type { OptimSpec } from "../../core/loss/loss.ts";
import type { ParameterSpec } from "../model/parameters.ts";
import type { Device } from "../tensor/device.ts";
import { adamStep } from "../tensor/operations/adam.ts";
import { Program } from "../tensor/program.ts";
import { newTensor, type Tensor } from "../tensor/tensor.ts";
import { globalNorm, stepNumbers, type AdamState } from "./adamw.ts";

type Tensors = ReadonlyMap<string, Tensor>;

const dataOf = (tensors: Tensors): Map<string, Float32Array> =>
  new Map(Array.from(tensors, ([name, tensor]) => [name, tensor.data]));

export class NativeAdam {
  /** On the same memory. */
  readonly state: AdamState;
  readonly #device: Device;
  readonly #weights: Tensors;
  readonly #first: Tensors;
  readonly #second: Tensors;

  constructor(device: Device, weights: Tensors) {
    const zeros = (): Tensors =>
      new Map(
        Array.from(weights, ([name, { rows, columns }]) => [
          name,
          newTensor(device, rows, columns),
        ]),
      );
    this.#device = device;
    this.#weights = weights;
    [this.#first, this.#second] = [zeros(), zeros()];
    this.state = {
      firstMoment: dataOf(this.#first),
      secondMoment: dataOf(this.#second),
      step: 0,
    };
  }

  /** As `adamStep` of `adamw.ts`. */
  async step(
    parameters: readonly ParameterSpec[],
    gradients: Tensors,
    optim: OptimSpec,
  ): Promise<number> {
    const norm = globalNorm(dataOf(gradients));
    this.state.step += 1;
    const program = new Program(this.#device);
    for (const { name, decay } of parameters) {
      const moments = { first: this.#first.get(name)!, second: this.#second.get(name)! };
      const numbers = stepNumbers(optim, norm, this.state.step, decay);
      adamStep(program, this.#weights.get(name)!, gradients.get(name)!, moments, numbers);
    }
    await program.run();
    return norm;
  }
}
