/**
 * A critic: a gated layer, as the decoder's own feed-forwards, on the hidden states h that the policy's logits are
 * made of, which it does not change:
 *
 *   V = down . (silu(gate h) * (up h)) + bias
 */
import { type CriticSpec, valueTerm } from "../../core/loss/value-loss.ts";
import { NumericsError } from "../../core/errors.ts";
import type { OptimSpec } from "../../core/loss/loss.ts";
import { createRandom } from "../../util/random.ts";
import type { ParameterSpec } from "../model/parameters.ts";
import { type AdamState, adamStep, createAdamState } from "../optimizer/adamw.ts";
import type { Device } from "../tensor/device.ts";
import { type Matrix, newMatrix, pack, product } from "../tensor/matrix.ts";
import { gate, gateBackward } from "../tensor/operations/gate.ts";
import { outer } from "../tensor/operations/outer.ts";
import { Program } from "../tensor/program.ts";
import { newTensor, type Tensor } from "../tensor/tensor.ts";

/** Width of the gated layer. */
const width = 128;

/** Hidden states [R, H] with what is known of their tokens; [R] each. */
export interface ValueBatch {
  readonly states: Tensor;
  /** Before the update. */
  readonly values: Float64Array;
  readonly returns: Float64Array;
  /** On every term: the aggregation. */
  readonly factors: Float64Array;
}

export interface ValueGradients {
  /** Sum over tokens, without their factors. */
  readonly loss: number;
  /** Tokens whose value was clipped. */
  readonly clipped: number;
  /** By parameter. */
  readonly gradients: ReadonlyMap<string, Float32Array>;
}

export class ValueHead {
  /** `value.gate_up.weight` [2 width, H], `value.down.weight` [1, width], `value.down.bias` [1]. */
  readonly parameters: readonly ParameterSpec[];
  readonly data: ReadonlyMap<string, Float32Array>;
  readonly adam: AdamState;
  readonly #device: Device;
  readonly #gateUp: Tensor;
  readonly #matrix: Matrix;
  readonly #down = new Float32Array(width);
  readonly #bias = new Float32Array(1);

  /** Gives 0 until it has learned. */
  constructor(device: Device, hiddenSize: number) {
    this.#device = device;
    this.#gateUp = newTensor(device, 2 * width, hiddenSize);
    this.#matrix = newMatrix(device, hiddenSize, 2 * width, "f32");
    this.parameters = [
      { name: "value.gate_up.weight", shape: [2 * width, hiddenSize], decay: false },
      { name: "value.down.weight", shape: [1, width], decay: false },
      { name: "value.down.bias", shape: [1], decay: false },
    ];
    const own = [this.#gateUp.data, this.#down, this.#bias];
    this.data = new Map(this.parameters.map(({ name }, i) => [name, own[i]!]));
    this.adam = createAdamState(this.parameters);
    const random = createRandom(0);
    const bound = 1 / Math.sqrt(hiddenSize);
    this.#gateUp.data.set(this.#gateUp.data.map(() => (2 * random() - 1) * bound));
  }

  /** Of hidden states [R, H]. */
  async values(states: Tensor): Promise<Float64Array> {
    return this.#valuesOf((await this.#forward(states)).activated, states.rows);
  }

  async #forward(states: Tensor) {
    const program = new Program(this.#device);
    const gateUp = newTensor(this.#device, states.rows, 2 * width);
    const activated = newTensor(this.#device, states.rows, width);
    pack(program, this.#gateUp, this.#matrix);
    product(program, states, this.#matrix, gateUp, { precision: "f32" });
    gate(program, gateUp, activated, "silu");
    await program.run();
    return { gateUp, activated };
  }

  #valuesOf({ data }: Tensor, rows: number): Float64Array {
    return Float64Array.from({ length: rows }, (_, r) => {
      let sum = this.#bias[0]!;
      for (let k = 0; k < width; k++) sum += data[r * width + k]! * this.#down[k]!;
      return sum;
    });
  }

  /** Of the value loss of a batch; `loss` and `clipped` are sums over tokens, without their factors. */
  async gradients(batch: ValueBatch, clip: number | null): Promise<ValueGradients> {
    const { states, values, returns, factors } = batch;
    const { gateUp, activated } = await this.#forward(states);
    const ofActivated = newTensor(this.#device, states.rows, width);
    const [inner, ofInner] = [activated.data, ofActivated.data];
    const ofDown = new Float64Array(width);
    let [loss, clipped, ofBias] = [0, 0, 0];
    for (const [r, now] of this.#valuesOf(activated, states.rows).entries()) {
      const found = valueTerm(now, values[r]!, returns[r]!, clip);
      loss += found.term;
      clipped += found.isClipped ? 1 : 0;
      const own = factors[r]! * found.gradient;
      ofBias += own;
      for (let k = 0; k < width; k++) {
        ofDown[k]! += own * inner[r * width + k]!;
        ofInner[r * width + k] = own * this.#down[k]!;
      }
    }
    const program = new Program(this.#device);
    const ofGateUp = newTensor(this.#device, 2 * width, states.columns);
    gateBackward(program, gateUp, ofActivated, gateUp, "silu");
    outer(program, gateUp, states, ofGateUp);
    await program.run();
    const gradients = [ofGateUp.data, Float32Array.from(ofDown), Float32Array.of(ofBias)];
    return {
      loss,
      clipped,
      gradients: new Map(this.parameters.map(({ name }, i) => [name, gradients[i]!])),
    };
  }

  /**
   * Learns in several steps on all of a batch.
   * @returns means over these: `value_loss` and `value_clip_fraction` per token, `value_grad_norm`
   * @throws NumericsError where a number is not finite; nothing has changed then.
   */
  async learn(
    batch: ValueBatch,
    { epochs, clip, learningRate }: CriticSpec,
    optim: OptimSpec,
  ): Promise<Record<string, number>> {
    const before = this.#snapshot();
    const tokens = batch.values.length;
    const sums = { loss: 0, clipped: 0, norm: 0 };
    try {
      for (let epoch = 0; epoch < epochs; epoch++) {
        const { loss, clipped, gradients } = await this.gradients(batch, clip);
        if (!Number.isFinite(loss)) throw new NumericsError("The value loss", loss);
        sums.loss += loss / tokens;
        sums.clipped += clipped / tokens;
        const own = { ...optim, learningRate, weightDecay: 0 };
        sums.norm += adamStep(this.parameters, this.data, gradients, this.adam, own);
      }
    } catch (error) {
      before();
      throw error;
    }
    return {
      value_loss: sums.loss / epochs,
      ...(clip === null ? {} : { value_clip_fraction: sums.clipped / epochs }),
      value_grad_norm: sums.norm / epochs,
    };
  }

  /** @returns what restores everything as it is now */
  #snapshot(): () => void {
    const { firstMoment, secondMoment, step } = this.adam;
    const copies = [this.data, firstMoment, secondMoment].map((map) =>
      Array.from(map.values(), (values) => [values, values.slice()] as const),
    );
    return () => {
      for (const [values, copy] of copies.flat()) values.set(copy);
      this.adam.step = step;
    };
  }
}
