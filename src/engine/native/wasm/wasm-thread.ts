/** The thread that runs programs of the kernels in wasm, so that Node's stays free. */
import { parentPort, workerData } from "node:worker_threads";
import { instantiate } from "./wasm-instance.ts";
import type { SharedMemory, WasmModule } from "./web-assembly.ts";

export interface ThreadData {
  readonly module: WasmModule;
  readonly memory: SharedMemory;
  /** How many programs have ended: who waits for them without an event loop looks here. */
  readonly ended: Int32Array;
}

/** The commands of a program. */
export interface ToThread {
  readonly address: number;
  readonly length: number;
}

/** What went wrong, or null. */
export type FromThread = string | null;

const port = parentPort;
if (port === null) throw new Error("wasm-thread.ts runs in a worker thread only.");
const { module, memory, ended } = workerData as ThreadData;
const kernels = instantiate(module, memory);

const run = ({ address, length }: ToThread): FromThread => {
  try {
    return kernels.run(address, length) === 1 ? null : "A program is not complete.";
  } catch (error) {
    return (error as Error).message;
  }
};

port.on("message", (program: ToThread) => {
  const failure = run(program);
  Atomics.add(ended, 0, 1);
  Atomics.notify(ended, 0);
  port.postMessage(failure);
});
