/**
 * Allocates from a memory of WebAssembly. It grows; views of it stay valid, since it is shared. Memory is given back
 * when the garbage collector finds that nothing refers to the object that stands for it.
 */
import type { NativeMemory } from "../native.ts";
import type { SharedMemory } from "./web-assembly.ts";

const alignment = 64;
const pageBytes = 2 ** 16;
/** So that not every tensor grows it. */
const growthPages = 256;

interface Range {
  readonly address: number;
  readonly bytes: number;
}

export class WasmMemory {
  readonly #memory: SharedMemory;
  /** Beyond it, nothing was used yet: zeros. */
  #end: number;
  /** By address; no two of them touch. */
  readonly #free: Range[] = [];
  readonly #forgotten = new FinalizationRegistry<Range>((range) => {
    this.#giveBack(range);
  });

  constructor(memory: SharedMemory, start: number) {
    this.#memory = memory;
    this.#end = Math.ceil(start / alignment) * alignment;
  }

  /** Zeroed; null where there is not as much. */
  take(byteLength: number): NativeMemory | null {
    const bytes = Math.ceil(byteLength / alignment) * alignment;
    const address = this.#takeFree(bytes) ?? this.#takeNew(bytes);
    if (address === null) return null;
    const memory = { buffer: this.#memory.buffer, byteOffset: address, byteLength, address };
    this.#forgotten.register(memory, { address, bytes }, memory);
    return memory;
  }

  release(memory: NativeMemory): void {
    if (!this.#forgotten.unregister(memory)) throw new RangeError("This memory is not in use.");
    const bytes = Math.ceil(memory.byteLength / alignment) * alignment;
    this.#giveBack({ address: memory.address, bytes });
  }

  #takeFree(bytes: number): number | null {
    const index = this.#free.findIndex((range) => range.bytes >= bytes);
    const range = this.#free[index];
    if (range === undefined) return null;
    const { address } = range;
    if (range.bytes === bytes) this.#free.splice(index, 1);
    else this.#free[index] = { address: address + bytes, bytes: range.bytes - bytes };
    new Uint8Array(this.#memory.buffer, address, bytes).fill(0);
    return address;
  }

  #takeNew(bytes: number): number | null {
    const address = this.#end;
    const missing = address + bytes - this.#memory.buffer.byteLength;
    if (missing > 0 && !this.#grow(Math.ceil(missing / pageBytes))) return null;
    this.#end = address + bytes;
    return address;
  }

  #grow(pages: number): boolean {
    for (const count of [Math.max(pages, growthPages), pages]) {
      try {
        this.#memory.grow(count);
        return true;
      } catch {
        // Beyond the maximum, or the system has no more.
      }
    }
    return false;
  }

  #giveBack({ address, bytes }: Range): void {
    const next = this.#free.findIndex((range) => range.address > address);
    const index = next === -1 ? this.#free.length : next;
    const before = this.#free[index - 1];
    const after = this.#free[index];
    const joinsBefore = before !== undefined && before.address + before.bytes === address;
    const joinsAfter = after !== undefined && address + bytes === after.address;
    const joined = {
      address: joinsBefore ? before.address : address,
      bytes: bytes + (joinsBefore ? before.bytes : 0) + (joinsAfter ? after.bytes : 0),
    };
    this.#free.splice(
      joinsBefore ? index - 1 : index,
      Number(joinsBefore) + Number(joinsAfter),
      joined,
    );
  }
}
