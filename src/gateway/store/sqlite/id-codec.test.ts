import { describe, expect, it } from "vitest";
import { createRandom } from "../../../util/random.ts";
import { countIds, packIds, unpackIds } from "./id-codec.ts";

function roundTrip(ids: Int32Array): Int32Array {
  const bytes = packIds(ids);
  const out = new Int32Array(countIds(bytes) + 1);
  unpackIds(bytes, out, 1);
  return out.subarray(1);
}

describe("ids", () => {
  it("come back whatever their sizes and number are", () => {
    const random = createRandom(5);
    for (let bits = 0; bits <= 32; bits++) {
      for (const length of [0, 1, 2, 3, 7, 8, 9, 100]) {
        const bound = 2 ** bits;
        const uniform = Int32Array.from({ length }, () => Math.floor(random() * bound));
        const skewed = Int32Array.from({ length }, () => Math.floor(bound ** random()) - 1);
        const largest = new Int32Array(length).fill(bound - 1);
        for (const ids of [uniform, skewed, largest]) expect(roundTrip(ids)).toEqual(ids);
      }
    }
  });

  it("take the bits of the largest where all are as likely", () => {
    const random = createRandom(1);
    const ids = Int32Array.from({ length: 512 }, () => Math.floor(random() * 151_936));
    // 18 bits hold 151,935; one byte says so.
    expect(packIds(ids)).toHaveLength(1 + (512 * 18) / 8);
  });

  it("take a byte each where they are small", () => {
    expect(packIds(new Int32Array(100).fill(127))).toHaveLength(101);
    expect(packIds(Int32Array.of(1, 1, 1, 1, 1, 1, 1, 100_000))).toHaveLength(11);
  });

  it("can begin in the middle", () => {
    const ids = Int32Array.of(70_000, 80_000, 90_000, 100_000);
    const out = new Int32Array(2);
    unpackIds(packIds(ids, 2), out, 0);
    expect(out).toEqual(Int32Array.of(90_000, 100_000));
  });
});
