import { expect, it } from "vitest";
import { defaultOptim } from "../../core/loss/loss.ts";
import { createRandom } from "../../util/random.ts";
import { loadNative } from "../native/load-native.ts";
import { Device } from "../tensor/device.ts";
import { newTensor, type Tensor } from "../tensor/tensor.ts";
import { adamStep, createAdamState } from "./adamw.ts";
import { NativeAdam } from "./native-adam.ts";

const parameters = [
  { name: "matrix", shape: [37, 61], decay: true },
  { name: "norm", shape: [1, 19], decay: false },
];
const data = (tensors: ReadonlyMap<string, Tensor>): Map<string, Float32Array> =>
  new Map(Array.from(tensors, ([name, tensor]) => [name, tensor.data]));

it.each(loadNative().instructionSets.map(({ name }) => name))(
  "steps as in JavaScript, bit for bit, with %s",
  async (instructionSet) => {
    const device = new Device({ threads: 2, instructionSet });
    const random = createRandom(3);
    const tensors = (scale: number): Map<string, Tensor> =>
      new Map(
        parameters.map(({ name, shape }) => {
          const tensor = newTensor(device, shape[0]!, shape[1]!);
          tensor.data.forEach((_, i, all) => (all[i] = scale * (2 * random() - 1)));
          return [name, tensor];
        }),
      );
    const weights = tensors(1);
    const expected = new Map(Array.from(data(weights), ([name, own]) => [name, own.slice()]));
    const native = new NativeAdam(device, weights);
    const state = createAdamState(parameters);
    // The first gradients are clipped, the last ones are not.
    for (const scale of [1, 0.1, 1e-3, 1e-3]) {
      const gradients = tensors(scale);
      const optim = { ...defaultOptim, learningRate: 0.01, weightDecay: 0.1, maxGradNorm: 1 };
      const norm = adamStep(parameters, expected, data(gradients), state, optim);
      expect(await native.step(parameters, gradients, optim)).toBe(norm);
    }
    expect(data(weights)).toEqual(expected);
    expect(native.state).toEqual(state);
  },
);
