/**
 * Operations in the order in which they are to run, as a stream of a GPU has them: a function of `operations/` checks
 * its tensors and adds a command; `run` runs them all, on another thread.
 */
import type { Device } from "./device.ts";
import type { Tensor, TensorType } from "./tensor.ts";

export type Argument = number | boolean | null | Tensor<TensorType>;

export class Program {
  readonly device: Device;
  #commands = new Float64Array(1024);
  #length = 0;
  /** What the commands point to must live until they have run. */
  #used: Tensor<TensorType>[] = [];

  constructor(device: Device) {
    this.device = device;
  }

  /** A tensor is passed as its address, null as address 0. */
  add(operation: string, ...values: readonly Argument[]): void {
    const id = this.device.idOf(operation, values.length);
    if (this.#length + values.length + 1 > this.#commands.length) {
      const grown = new Float64Array(2 * this.#commands.length + values.length);
      grown.set(this.#commands);
      this.#commands = grown;
    }
    this.#commands[this.#length++] = id;
    for (const value of values) {
      if (value === null) this.#commands[this.#length++] = 0;
      else if (typeof value === "object") {
        this.#used.push(value);
        this.#commands[this.#length++] = value.address;
      } else this.#commands[this.#length++] = Number(value);
    }
  }

  /** Runs what was added, after all programs that were run before, and forgets it. */
  async run(): Promise<void> {
    const [commands, length, used] = this.#take();
    if (length === 0) return;
    const { native, instructionSet, threads } = this.device;
    await native.run(instructionSet.id, commands, length, threads);
    // Until here.
    used.length = 0;
  }

  /** The same on this thread. */
  runNow(): void {
    const [commands, length, used] = this.#take();
    const { native, instructionSet, threads } = this.device;
    if (length > 0) native.runNow(instructionSet.id, commands, length, threads);
    used.length = 0;
  }

  #take(): [Float64Array, number, Tensor<TensorType>[]] {
    const taken: [Float64Array, number, Tensor<TensorType>[]] = [
      this.#commands,
      this.#length,
      this.#used,
    ];
    this.#length = 0;
    this.#used = [];
    return taken;
  }
}
