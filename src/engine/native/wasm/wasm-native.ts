/** The kernels as WebAssembly: the same C on one thread, for systems without a binary and as a second one in tests. */
import { readFileSync } from "node:fs";
import type { Worker } from "node:worker_threads";
import { startThread } from "../../../util/start-thread.ts";
import type { InstructionSet, Native, NativeMemory } from "../native.ts";
import { instantiate, maxPages, type WasmExports } from "./wasm-instance.ts";
import { WasmMemory } from "./wasm-memory.ts";
import type { FromThread, ThreadData, ToThread } from "./wasm-thread.ts";
import { Memory, Module, type WasmModule } from "./web-assembly.ts";

const initialPages = 256;

/** @throws Error where this runtime has no shared memory or no SIMD in wasm */
export function loadWasm(path: string): Native {
  return new WasmNative(new Module(readFileSync(path)));
}

interface Waiting {
  readonly commands: NativeMemory;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

class WasmNative implements Native {
  readonly kind = "wasm";
  readonly instructionSets: readonly InstructionSet[];
  readonly #module: WasmModule;
  readonly #memory = new Memory({
    initial: initialPages,
    maximum: maxPages,
    shared: true,
  });
  readonly #kernels: WasmExports;
  readonly #heap: WasmMemory;
  #thread: Worker | undefined;
  /** Programs that the thread was sent, and how many of them have ended. */
  #sent = 0;
  readonly #ended = new Int32Array(new SharedArrayBuffer(4));
  readonly #waiting: Waiting[] = [];

  constructor(module: WasmModule) {
    this.#module = module;
    this.#kernels = instantiate(module, this.#memory);
    this.#heap = new WasmMemory(this.#memory, this.#kernels.heap_start());
    const operations = Array.from({ length: this.#kernels.operation_count() }, (_, index) => ({
      name: this.#text(this.#kernels.operation_name(index)),
      arity: this.#kernels.operation_arity(index),
    }));
    this.instructionSets = [{ id: 0, name: "simd128", operations }];
  }

  allocate(bytes: number): NativeMemory | null {
    return this.#heap.take(bytes);
  }

  release(memory: NativeMemory): void {
    this.#heap.release(memory);
  }

  run(_set: number, commands: Float64Array, length: number): Promise<void> {
    const program = this.#write(commands, length);
    return new Promise((resolve, reject) => {
      const thread = this.#startedThread();
      // A program that is awaited keeps the process; an idle engine does not.
      if (this.#waiting.push({ commands: program, resolve, reject }) === 1) thread.ref();
      this.#sent = (this.#sent + 1) | 0;
      thread.postMessage({ address: program.address, length } satisfies ToThread);
    });
  }

  runNow(_set: number, commands: Float64Array, length: number): void {
    for (let ended: number; (ended = Atomics.load(this.#ended, 0)) !== this.#sent;)
      Atomics.wait(this.#ended, 0, ended);
    const program = this.#write(commands, length);
    try {
      if (this.#kernels.run(program.address, length) !== 1)
        throw new Error("A program is not complete.");
    } finally {
      this.#heap.release(program);
    }
  }

  #startedThread(): Worker {
    if (this.#thread !== undefined) return this.#thread;
    const thread = startThread("./wasm-thread", import.meta.url, {
      // What the program was started with, such as --input-type, may not fit a file.
      execArgv: [],
      workerData: {
        module: this.#module,
        memory: this.#memory,
        ended: this.#ended,
      } satisfies ThreadData,
    });
    thread.unref();
    thread.on("message", (failure: FromThread) => {
      const { commands, resolve, reject } = this.#waiting.shift()!;
      this.#heap.release(commands);
      if (this.#waiting.length === 0) thread.unref();
      if (failure === null) resolve();
      else reject(new Error(failure));
    });
    thread.on("error", (error) => {
      this.#thread = undefined;
      Atomics.store(this.#ended, 0, this.#sent);
      for (const { commands, reject } of this.#waiting.splice(0)) {
        this.#heap.release(commands);
        reject(error);
      }
    });
    this.#thread = thread;
    return thread;
  }

  #write(commands: Float64Array, length: number): NativeMemory {
    const memory = this.#heap.take(Math.max(8, 8 * length));
    if (memory === null) throw new Error("Out of memory.");
    new Float64Array(memory.buffer, memory.byteOffset, length).set(commands.subarray(0, length));
    return memory;
  }

  #text(address: number): string {
    const bytes = new Uint8Array(this.#memory.buffer);
    return Buffer.from(bytes.slice(address, bytes.indexOf(0, address))).toString();
  }
}
