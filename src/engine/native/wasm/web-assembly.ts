/** The part of WebAssembly that is used here: TypeScript declares it for browsers only. */

export interface WasmModule {
  /** So that no other object is one. */
  readonly brand: "WebAssembly.Module";
}

export interface SharedMemory {
  /** Of all of it at the moment; earlier buffers stay valid. */
  readonly buffer: SharedArrayBuffer;
  /** @throws RangeError where there is not as much */
  grow(pages: number): number;
}

interface Constructors {
  readonly Module: new (bytes: Uint8Array) => WasmModule;
  readonly Memory: new (pages: { initial: number; maximum: number; shared: true }) => SharedMemory;
  readonly Instance: new (module: WasmModule, imports: object) => { readonly exports: unknown };
}

const constructors = (globalThis as unknown as { readonly WebAssembly: Constructors }).WebAssembly;
export const Module: Constructors["Module"] = constructors.Module;
export const Memory: Constructors["Memory"] = constructors.Memory;
export const Instance: Constructors["Instance"] = constructors.Instance;
