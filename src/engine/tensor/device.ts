/** Where tensors live and operations run: the kernels of one instruction set, with a number of threads. */
import { ConfigError } from "../../core/errors.ts";
import { loadNative } from "../native/load-native.ts";
import type { InstructionSet, Native, NativeMemory } from "../native/native.ts";

export interface DeviceOptions {
  readonly threads: number;
  /** One of the processor's. @default AGENT_TRAINER_INSTRUCTION_SET, or else the fastest */
  readonly instructionSet?: string;
  /** @default the binary of this platform */
  readonly native?: Native;
}

export class Device {
  readonly native: Native;
  readonly threads: number;
  readonly instructionSet: InstructionSet;
  readonly #ids: ReadonlyMap<string, number>;

  constructor({ threads, instructionSet, native = loadNative() }: DeviceOptions) {
    this.native = native;
    this.threads = threads;
    const wanted = instructionSet ?? process.env["AGENT_TRAINER_INSTRUCTION_SET"];
    const sets = native.instructionSets;
    const set = wanted === undefined ? sets[0] : sets.find(({ name }) => name === wanted);
    if (set === undefined) {
      throw new ConfigError({
        message: `The instruction set "${wanted}" is not one of this processor's: ${sets.map(({ name }) => name).join(", ")}.`,
        fields: { value: wanted },
      });
    }
    this.instructionSet = set;
    this.#ids = new Map(set.operations.map(({ name }, id) => [name, id]));
  }

  /** Whether products of bf16 have an instruction, and are not emulated. */
  get hasBfloat16(): boolean {
    return this.instructionSet.name.endsWith("_bf16");
  }

  /** The number of an operation in a program. @throws RangeError for another number of arguments than it has. */
  idOf(operation: string, argumentCount: number): number {
    const id = this.#ids.get(operation);
    if (id === undefined) throw new RangeError(`There is no operation "${operation}".`);
    const { arity } = this.instructionSet.operations[id]!;
    if (arity !== argumentCount)
      throw new RangeError(`"${operation}" has ${arity} arguments, not ${argumentCount}.`);
    return id;
  }

  /** Zeroed memory. @throws ConfigError where there is not as much. */
  allocate(bytes: number): NativeMemory {
    const memory = this.native.allocate(Math.max(1, bytes));
    if (memory !== null) return memory;
    throw new ConfigError({
      message: `${Math.ceil(bytes / 2 ** 20)} MiB of memory are not to be had.`,
      hint: "Lower local.training_memory_mib or local.cache_memory_mib, or take a smaller model.",
      fields: { bytes },
    });
  }
}
