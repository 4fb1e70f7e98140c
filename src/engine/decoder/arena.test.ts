import { expect, it } from "vitest";
import { Device } from "../tensor/device.ts";
import { Arena } from "./arena.ts";

const device = new Device({ threads: 1 });
/** As a pass of this many tokens: its tensors are larger than a piece. */
const pass = (arena: Arena, tokens: number): void => {
  const { mark } = arena;
  for (let i = 0; i < 3; i++) arena.take(tokens, 8192).data.fill(1);
  arena.release(mark);
};

it("does not hold the memory of smaller passes next to that of a larger one", () => {
  const arena = new Arena(device);
  for (const tokens of [600, 610, 620, 615]) {
    arena.fit(tokens);
    pass(arena, tokens);
  }
  expect(arena.size).toBe(3 * 620 * 8192);
});

it("keeps its memory for passes that are not larger, and whatever was taken", () => {
  const arena = new Arena(device);
  arena.fit(600, 10);
  const taken = arena.take(600, 8192);
  taken.data.fill(7);
  arena.fit(700, 10);
  expect(taken.data.every((value) => value === 7)).toBe(true);
  arena.release({ piece: 0, used: 0 });
  const { size } = arena;
  arena.fit(599, 10);
  expect(arena.size).toBe(size);
  arena.fit(599, 11);
  expect(arena.size).toBe(0);
});
