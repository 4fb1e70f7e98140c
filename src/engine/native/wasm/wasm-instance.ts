/** An instance of the kernels (native/wasm/wasm.c) on a memory that several threads may share. */
import { Instance, type SharedMemory, type WasmModule } from "./web-assembly.ts";

export interface WasmExports {
  /** The first address that the kernels do not use themselves. */
  heap_start(): number;
  operation_count(): number;
  /** The address of its text, which ends with 0. */
  operation_name(index: number): number;
  operation_arity(index: number): number;
  /** 0 where the program is not complete; nothing was run then. */
  run(commands: number, length: number): number;
}

/** Of 64 KiB: what 32 bits can address, less one. */
export const maxPages = 65_535;

export function instantiate(module: WasmModule, memory: SharedMemory): WasmExports {
  return new Instance(module, { env: { memory } }).exports as WasmExports;
}
