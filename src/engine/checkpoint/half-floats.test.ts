import { describe, expect, it } from "vitest";
import { fromBfloat16, fromHalf, toBfloat16, toHalf } from "./half-floats.ts";

const all = Uint16Array.from({ length: 65_536 }, (_, bits) => bits);
const half = (value: number): number => fromHalf(toHalf(Float32Array.of(value)))[0]!;
const bfloat = (value: number): number => fromBfloat16(toBfloat16(Float32Array.of(value)))[0]!;

describe("half precision", () => {
  it("keeps every number that it has", () => {
    const numbers = fromHalf(all);
    const back = toHalf(numbers);
    for (const [bits, value] of numbers.entries())
      if (!Number.isNaN(value)) expect(back[bits]).toBe(bits);
    expect(half(NaN)).toBeNaN();
  });

  // Neighbours of 1 are 2^-10 apart, those below 2^-14 are 2^-24 apart; 65504 is the largest.
  it.each([
    [1 + 2 ** -11, 1],
    [1 + 3 * 2 ** -11, 1 + 2 ** -9],
    [1 + 2 ** -11 + 2 ** -20, 1 + 2 ** -10],
    [2 ** -25, 0],
    [2 ** -25 + 2 ** -40, 2 ** -24],
    [3 * 2 ** -25, 2 ** -23],
    [2 ** -14 - 2 ** -26, 2 ** -14],
    [65_519.99, 65_504],
    [65_520, Infinity],
    [-1e30, -Infinity],
    [1e-30, 0],
  ])("rounds %d to the nearest, ties to even: %d", (value, expected) => {
    expect(half(value)).toBe(expected);
    expect(half(-value)).toBe(-expected);
  });
});

describe("bfloat16", () => {
  it("keeps every number that it has", () => {
    const numbers = fromBfloat16(all);
    const back = toBfloat16(numbers);
    for (const [bits, value] of numbers.entries())
      if (!Number.isNaN(value)) expect(back[bits]).toBe(bits);
    expect(bfloat(NaN)).toBeNaN();
  });

  // Neighbours of 1 are 2^-7 apart.
  it.each([
    [1 + 2 ** -8, 1],
    [1 + 3 * 2 ** -8, 1 + 2 ** -6],
    [1 + 2 ** -8 + 2 ** -20, 1 + 2 ** -7],
    [3.4e38, Infinity],
  ])("rounds %d to the nearest, ties to even: %d", (value, expected) => {
    expect(bfloat(value)).toBe(expected);
  });
});
