/** The kernels, as an addon of this platform or as wasm: memory, and programs of operations that run on it. */

interface NativeOperation {
  readonly name: string;
  /** How many arguments it has. */
  readonly arity: number;
}

export interface InstructionSet {
  /** What `run` knows it by. */
  readonly id: number;
  readonly name: string;
  /** A command is the place of its operation in this list, then its arguments. */
  readonly operations: readonly NativeOperation[];
}

/** Given back when nothing refers to it: the one that uses the buffer or the address keeps this object. */
export interface NativeMemory {
  readonly buffer: ArrayBuffer | SharedArrayBuffer;
  /** Where in `buffer` it begins. */
  readonly byteOffset: number;
  readonly byteLength: number;
  /** Of its first byte, for kernels; a multiple of 64. */
  readonly address: number;
}

export interface Native {
  readonly kind: "addon" | "wasm";
  /** Those that this processor has, the fastest first. */
  readonly instructionSets: readonly InstructionSet[];
  /** Zeroed; null where there is not as much. */
  allocate(bytes: number): NativeMemory | null;
  /** Gives memory back before the garbage collector would; it must not be used afterwards. */
  release(memory: NativeMemory): void;
  /** Runs the first `length` numbers of `commands` on another thread, after all that came before. */
  run(set: number, commands: Float64Array, length: number, threads: number): Promise<void>;
  /** The same on this thread, waiting for a program that is running. */
  runNow(set: number, commands: Float64Array, length: number, threads: number): void;
}
