/** The kernels, as an addon of this platform or as wasm: memory, and programs of operations that run on it. */

export interface NativeOperation {
  readonly name: string;
  /** How many arguments it has. */
  readonly arity: number;
}

export interface InstructionSet {
  readonly name: string;
  /** A command is the place of its operation in this list, then its arguments. */
  readonly operations: readonly NativeOperation[];
}

export interface NativeMemory {
  readonly buffer: ArrayBuffer | SharedArrayBuffer;
  /** Of its first byte, a multiple of 64. */
  readonly address: number;
}

export interface Native {
  /** Those that this processor has, the fastest first. */
  readonly instructionSets: readonly InstructionSet[];
  /** Zeroed; null where there is not as much. */
  allocate(bytes: number): NativeMemory | null;
  /** Gives memory back before the garbage collector would; views of it become empty. */
  release(buffer: ArrayBuffer | SharedArrayBuffer): void;
  /** Runs the first `length` numbers of `commands` on another thread, after all that came before. */
  run(set: number, commands: Float64Array, length: number, threads: number): Promise<void>;
  /** The same on this thread, waiting for a program that is running. */
  runNow(set: number, commands: Float64Array, length: number, threads: number): void;
}
