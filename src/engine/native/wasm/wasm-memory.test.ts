import { expect, it } from "vitest";
import { createRandom } from "../../../util/random.ts";
import type { NativeMemory } from "../native.ts";
import { WasmMemory } from "./wasm-memory.ts";
import { Memory } from "./web-assembly.ts";

it("gives out zeros that nobody else has, while memory is taken and given back", () => {
  const random = createRandom(3);
  const memory = new WasmMemory(new Memory({ initial: 1, maximum: 4000, shared: true }), 1000);
  const taken: { part: NativeMemory; bytes: Uint8Array; mark: number }[] = [];
  let most = 0;
  for (let step = 0; step < 4000; step++) {
    if (taken.length > 0 && random() < 0.49) {
      const [gone] = taken.splice(Math.floor(random() * taken.length), 1);
      expect(gone!.bytes.every((byte) => byte === gone!.mark)).toBe(true);
      memory.release(gone!.part);
    } else {
      const part = memory.take(1 + Math.floor(random() ** 4 * 100_000))!;
      expect(part.address % 64).toBe(0);
      const bytes = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
      expect(bytes.every((byte) => byte === 0)).toBe(true);
      const mark = 1 + (step % 255);
      taken.push({ part, bytes: bytes.fill(mark), mark });
      most = Math.max(most, part.address + part.byteLength);
    }
  }
  for (const { part } of taken) memory.release(part);
  // All of it is one piece again.
  expect(memory.take(most - 1024)!.address).toBe(1024);
});

it("has nothing more at its maximum, and says where memory is given back twice", () => {
  const memory = new WasmMemory(new Memory({ initial: 1, maximum: 2, shared: true }), 0);
  expect(memory.take(3 * 65_536)).toBeNull();
  const part = memory.take(2 * 65_536)!;
  expect(memory.take(64)).toBeNull();
  memory.release(part);
  expect(() => memory.release(part)).toThrow(RangeError);
  expect(memory.take(64)).not.toBeNull();
});
